import { JOB_LIMITS, type JobKind } from '@adsweep/shared/lease/job-limits.ts';
import { DISCOVERED_ADS_MAX, REPEAT_COUNT_MAX } from '@adsweep/shared/limits.ts';
import { runsUnder } from '../../scan/advance.ts';
import { isolationOf } from '../../scan/isolation.ts';
import type { ScanInQueue } from '../../scan/scan.ts';

/**
 * The longest time for one attempt of a job of this kind, from its lease to its report: the gateway carries nothing for
 * it after that.
 */
export const attemptMs = (kind: JobKind): number => JOB_LIMITS[kind].ticket_seconds * 1000;

const ATTEMPTS_MS = Object.keys(JOB_LIMITS).map((kind) => attemptMs(kind as JobKind));

/** No lease has to end before this age. */
export const SHORTEST_LIFETIME_MS = Math.min(...ATTEMPTS_MS);

/** A job that must be alone on its node waits for what runs there, which may be a job of many members. */
const ALONE_WAIT_MS = 660_000;

/** The most members that a lease can have beside the one that runs; of a sweep's, some may be of ads that are gone. */
const OTHER_MEMBERS_MAX = Math.max(REPEAT_COUNT_MAX - 1, DISCOVERED_ADS_MAX);

type Member = Pick<ScanInQueue, 'status' | 'lease' | 'job_kind' | 'lost_requeues'>;

/**
 * The age at which a lease ends, in ms: the time for an attempt of each member that has ended, and of the one that runs
 * now. `members`: all of the job. Pure.
 */
export function lifetimeMs(members: Member[], fence: number): number {
  const running = members.filter((member) => runsUnder(member, fence));
  const [first] = running;
  if (!first) return 0;
  const attempts = Math.min(members.length - running.length, OTHER_MEMBERS_MAX) + 1;
  const mayWait = running.some(({ lost_requeues }) => isolationOf(lost_requeues) === 'node');
  return attempts * attemptMs(first.job_kind) + (mayWait ? ALONE_WAIT_MS : 0);
}
