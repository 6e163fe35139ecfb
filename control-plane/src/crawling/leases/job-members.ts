import { AD_KINDS } from '@adsweep/shared/capture/ad-block.ts';
import type { CrawlJob, Isolation, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import { JOB_LIMITS, type JobKind } from '@adsweep/shared/lease/job-limits.ts';
import { carried } from '@adsweep/shared/tracing/spans.ts';
import { isolationOf } from '../../scan/isolation.ts';
import type { ScanInQueue, ScanRecord } from '../../scan/scan.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** The fields of a member that decide whether and when it is leased. */
type Candidate = Pick<ScanInQueue, '_id' | 'slot' | 'status' | 'lease' | 'lost_requeues'>;

/**
 * Chooses the members of a job for a new lease, in the order in which they will run: pending ones, and those that an
 * earlier lease left running. A member of isolation `node` gets a lease of its own after all others, so that no other
 * member counts as lost with it. Pure.
 */
export function chooseMembers<M extends Candidate>(members: M[], fence: number): { isolation: Isolation; chosen: M[] } {
  const open = members.filter((member) => mayLease(member, fence)).toSorted((a, b) => a.slot - b.slot);
  const together = open.filter(({ lost_requeues }) => isolationOf(lost_requeues) !== 'node');
  if (together.length === 0) return { isolation: 'node', chosen: open.slice(0, 1) };
  return { isolation: isolationOf(Math.max(...together.map(({ lost_requeues }) => lost_requeues))), chosen: together };
}

/** Whether a lease of the members `leased` runs all members of the job that were not cancelled in one browser. */
export const isWholeGroup = (all: Candidate[], leased: ReadonlySet<string>): boolean =>
  all.every(({ _id, status }) => status === 'cancelled' || leased.has(_id));

const mayLease = ({ status, lease }: Candidate, fence: number): boolean =>
  status === 'pending' || (status === 'running' && (lease?.fence ?? 0) < fence);

/** The job as it is sent to the node that leased its `members`. */
export function crawlJobOf(
  { jobId }: LeaseRef,
  kind: JobKind,
  isolation: Isolation,
  members: ScanRecord[],
  exitSession: string,
): CrawlJob {
  return {
    job_id: jobId,
    kind,
    isolation,
    limits: JOB_LIMITS[kind],
    exit_session: exitSession,
    members: members.map(jobMemberOf),
  };
}

/** A scan as it is sent to a node. */
export function jobMemberOf(scan: ScanRecord): JobMember {
  return {
    scan_id: scan._id,
    attempt: scan.retry_attempt,
    target: scan.target,
    targeting: {
      country_code: scan.country_code,
      proxy_type: scan.proxy?.proxy_type ?? 'residential',
      region: scan.proxy?.region ?? '',
      city: scan.proxy?.city ?? '',
      isp: scan.proxy?.isp ?? '',
    },
    emulator_id: scan.emulator_id,
    referrer: scan.referrer,
    ...(scan.discovery && {
      discovery: {
        ad_formats: scan.discovery.ad_formats ?? [...AD_KINDS],
        max_ads: scan.discovery.max_discovered_ads,
      },
    }),
    ...(scan.ad_block && { ad_block: scan.ad_block }),
    ...carried(scan.traceparent),
  };
}
