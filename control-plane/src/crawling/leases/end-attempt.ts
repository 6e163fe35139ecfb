import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ApiError } from '../../http/api-error.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { advance, type ScanEvent } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { CaptureSummary, ScanRecord } from '../../scan/scan.ts';
import { discardEvidence, type EvidenceDependencies, storeEvidence } from '../captures/store-evidence.ts';
import { RETRY_WAIT_MAX_MS } from '../queue/enqueue-job.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queued-job.ts';
import { runsUnder } from './choose-members.ts';
import { settleJob } from './settle-job.ts';

export type EndDependencies = EvidenceDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue'>;
  scans: Pick<InternalScans, 'find' | 'findMember' | 'membersOf' | 'apply'>;
  metrics: Pick<WorkMetrics, 'failedAttempts' | 'finishedScans'>;
  logger: Logger;
  /** Called when a scan's outbox was filled. */
  outboxFilled: () => void;
};

/** How an attempt failed: the public code, the private cause for the log, and the evidence so far. */
export type FailedAttempt = { code: FailureCode; cause: string; capture: Capture | null };

const BACKOFF_MIN_MS = 2_000;

/** How long attempt number `attempt` + 1 waits, in ms: 2 s doubling to 60 s, less up to a half so that retries do not come in waves. */
export function backoffMs(attempt: number, random = Math.random()): number {
  const whole = Math.min(BACKOFF_MIN_MS * 2 ** attempt, RETRY_WAIT_MAX_MS);
  return Math.round(whole * (1 - random / 2));
}

/**
 * Ends a failed attempt of one member: the one place where a scan is tried again or ends as `failed`. `lost`: the scan does not name the
 * lease with this fence (any more), nothing is changed or kept. The job is settled by who calls this.
 */
export async function endAttempt(
  dependencies: EndDependencies,
  scan: ScanRecord,
  fence: number,
  attempt: FailedAttempt,
  now: Date,
): Promise<'ended' | 'lost'> {
  const { logger, metrics } = dependencies;
  const ended = await writeEnd(dependencies, scan, fence, attempt, now);
  if (ended?.status !== 'failed') await discardEvidence(dependencies, scan, fence);
  if (!ended) return 'lost';

  const { code, cause } = attempt;
  const { status, error, lost_requeues } = ended;
  const about = { scan_id: scan._id, fence, code, private_cause: cause, status, error, lost_requeues };
  logger.info(about, 'an attempt failed');
  metrics.failedAttempts.inc({ code });
  if (status === 'failed') {
    metrics.finishedScans.inc({ status });
    dependencies.outboxFilled();
  }
  return 'ended';
}

/** Records that nothing else runs on the node of a lease; false if no member names this lease (any more). */
export async function beginAlone(
  { scans }: Pick<EndDependencies, 'scans'>,
  ref: LeaseRef,
  now: Date,
): Promise<boolean> {
  const begun = await changeMembers(scans, ref, { type: 'alone', fence: ref.fence }, now);
  return begun.length > 0;
}

/** Ends attempts without a result, because they were not begun or their node stops: the job is queued again at once. */
export async function releaseLease(dependencies: EndDependencies, ref: LeaseRef, now: Date): Promise<'ended' | 'lost'> {
  const released = await changeMembers(dependencies.scans, ref, { type: 'release', fence: ref.fence }, now);
  await Promise.all(released.map((scan) => discardEvidence(dependencies, scan, ref.fence)));
  await settleJob(dependencies, ref, now);
  return released.length > 0 ? 'ended' : 'lost';
}

/** Applies a change to every member that runs under the lease; returns the changed ones. */
async function changeMembers(
  scans: EndDependencies['scans'],
  ref: LeaseRef,
  event: ScanEvent,
  now: Date,
): Promise<ScanRecord[]> {
  const running = (await scans.membersOf(ref)).filter((member) => runsUnder(member, ref.fence));
  const changed = await Promise.all(
    running.map(async ({ _id }) => {
      const scan = await scans.findMember(ref, _id);
      return scan && changeScan(scans, scan, event, now);
    }),
  );
  return changed.filter((scan) => scan !== null);
}

/** Evidence is stored, before the scan names it, only if the scan ends with this attempt. */
async function writeEnd(
  dependencies: EndDependencies,
  scan: ScanRecord,
  fence: number,
  { code, capture }: FailedAttempt,
  now: Date,
): Promise<ScanRecord | null> {
  const event: Extract<ScanEvent, { type: 'failure' }> = {
    type: 'failure',
    fence,
    code,
    capture: null,
    exit: capture?.exit ?? null,
    backoffMs: backoffMs(scan.retry_attempt),
  };
  const isLast = advance(scan, event, now)?.set.status === 'failed';
  if (isLast && capture) event.capture = await evidenceOf(dependencies, scan, fence, capture, now);
  return changeScan(dependencies.scans, scan, event, now);
}

/** Inconsistent evidence is no reason to refuse the failure: the scan ends without it. */
async function evidenceOf(
  dependencies: EndDependencies,
  scan: ScanRecord,
  fence: number,
  capture: Capture,
  now: Date,
): Promise<CaptureSummary | null> {
  try {
    return await storeEvidence(dependencies, scan, fence, capture, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    dependencies.logger.info(
      { scan_id: scan._id, detail: error.detail },
      'a failed attempt came with unusable evidence',
    );
    return null;
  }
}
