import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ApiError } from '../../http/api-error.ts';
import type { FarmMetrics } from '../../metrics.ts';
import { advance, type ScanEvent } from '../../scanning/scans/state/advance.ts';
import { changeScan } from '../../scanning/scans/state/change-scan.ts';
import type { FarmScans } from '../../scanning/scans/state/farm-scans.ts';
import type { CaptureSummary, ScanRecord } from '../../scanning/scans/state/scan.ts';
import { discardEvidence, type EvidenceDependencies, storeEvidence } from '../captures/store-evidence.ts';
import type { CrawlQueue, LeaseRef } from '../queue/queue.ts';
import { forgetJob, putBack } from './mend-queue.ts';

export type EndDependencies = EvidenceDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue'>;
  scans: Pick<FarmScans, 'findForWork' | 'apply'>;
  metrics: Pick<FarmMetrics, 'failedAttempts' | 'finishedScans'>;
  logger: Logger;
  /** Says that there is something in a scan's outbox. */
  outboxFilled: () => void;
};

/** How an attempt failed: the public code, the private cause for the log, and the evidence so far. */
export type FailedAttempt = { code: FailureCode; cause: string; capture: Capture | null };

const BACKOFF_MIN_MS = 2_000;
const BACKOFF_MAX_MS = 60_000;

/** How long attempt number `attempt` + 1 waits, in ms: 2 s doubling to 60 s, less up to a half so that retries do not come in waves. */
export function backoffMs(attempt: number, random = Math.random()): number {
  const whole = Math.min(BACKOFF_MIN_MS * 2 ** attempt, BACKOFF_MAX_MS);
  return Math.round(whole * (1 - random / 2));
}

/**
 * Ends a failed attempt: the one place where a scan is tried again or ends as `failed`. `lost`: the scan does not name this lease (any
 * more), nothing is changed or kept.
 */
export async function endAttempt(
  dependencies: EndDependencies,
  ref: LeaseRef,
  attempt: FailedAttempt,
  now: Date,
): Promise<'ended' | 'lost'> {
  const { scans, logger, metrics } = dependencies;
  const scan = await scans.findForWork(ref.scanId);
  const ended = scan && (await writeEnd(dependencies, scan, ref, attempt, now));
  await forgetJob(dependencies, ref);
  if (ended?.status !== 'failed') await discardEvidence(dependencies, ref);
  if (!ended) return 'lost';

  const { code, cause } = attempt;
  logger.info(
    {
      scan_id: ref.scanId,
      fence: ref.fence,
      code,
      private_cause: cause,
      status: ended.status,
      error: ended.error,
      lost_requeues: ended.lost_requeues,
    },
    'an attempt failed',
  );
  metrics.failedAttempts.inc({ code });
  if (ended.status === 'pending') return putBack(dependencies, ended, now).then(() => 'ended');
  metrics.finishedScans.inc({ status: ended.status });
  dependencies.outboxFilled();
  return 'ended';
}

/** Notes that nothing else runs on the node of a lease; false where the scan does not name this lease (any more). */
export async function beginAlone(
  { scans }: Pick<EndDependencies, 'scans'>,
  ref: LeaseRef,
  now: Date,
): Promise<boolean> {
  const scan = await scans.findForWork(ref.scanId);
  return scan !== null && (await changeScan(scans, scan, { type: 'alone', fence: ref.fence }, now)) !== null;
}

/** Ends an attempt that leads to nothing, because it was not begun or its node stops: the job goes back at once. */
export async function releaseLease(dependencies: EndDependencies, ref: LeaseRef, now: Date): Promise<'ended' | 'lost'> {
  const scan = await dependencies.scans.findForWork(ref.scanId);
  const released = scan && (await changeScan(dependencies.scans, scan, { type: 'release', fence: ref.fence }, now));
  await forgetJob(dependencies, ref);
  if (!released) return 'lost';
  await discardEvidence(dependencies, ref);
  await putBack(dependencies, released, now);
  return 'ended';
}

/** Evidence is stored, before the scan names it, only where the scan ends with this attempt. */
async function writeEnd(
  dependencies: EndDependencies,
  scan: ScanRecord,
  ref: LeaseRef,
  { code, capture }: FailedAttempt,
  now: Date,
): Promise<ScanRecord | null> {
  const event: Extract<ScanEvent, { type: 'failure' }> = {
    type: 'failure',
    fence: ref.fence,
    code,
    capture: null,
    exit: capture?.exit ?? null,
    backoffMs: backoffMs(scan.retry_attempt),
  };
  const isLast = advance(scan, event, now)?.set.status === 'failed';
  if (isLast && capture) event.capture = await evidenceOf(dependencies, scan, ref, capture, now);
  return changeScan(dependencies.scans, scan, event, now);
}

/** Evidence of a failure that contradicts itself is no reason to refuse the failure: the scan ends without it. */
async function evidenceOf(
  dependencies: EndDependencies,
  scan: ScanRecord,
  ref: LeaseRef,
  capture: Capture,
  now: Date,
): Promise<CaptureSummary | null> {
  try {
    return await storeEvidence(dependencies, scan, ref, capture, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    dependencies.logger.info(
      { scan_id: scan._id, detail: error.detail },
      'a failed attempt came with unusable evidence',
    );
    return null;
  }
}
