import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';
import { GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { ApiError } from '../../http/api-error.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { advance, type ScanEvent } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import { measureEnd } from '../../scan/measure-end.ts';
import type { CaptureSummary, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { type Attempt, discardEvidence, type EvidenceDependencies, storeEvidence } from '../captures/store-evidence.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { RETRY_WAIT_MAX_MS } from '../queue/waiting-jobs.ts';

export type EndDependencies = EvidenceDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue'>;
  scans: Pick<ScanStore, 'find' | 'findMember' | 'membersOf' | 'apply'>;
  metrics: Pick<WorkMetrics, 'failedAttempts' | 'finishedScans' | 'stageSeconds'>;
  /** Called when a scan's outbox was filled. */
  outboxFilled: () => void;
};

/** How an attempt failed: the public code, the private cause (logged only), and what was captured until then. */
export type Failure = { code: FailureCode; cause: string; capture: Capture | null };

/** The delay of a retry. */
export const RETRY_BACKOFF: Backoff = { minMs: 2_000, maxMs: RETRY_WAIT_MAX_MS };

/**
 * Ends a failed attempt of one member. Only this function decides whether a scan is retried or ends as `failed`.
 * `lost`: the scan is not leased under this fence; nothing is changed or kept. The caller closes the lease.
 */
export async function endAttempt(
  dependencies: EndDependencies,
  attempt: Attempt,
  failure: Failure,
  now: Date,
): Promise<'ended' | 'lost'> {
  const { logger, metrics } = dependencies;
  const { scan, fence } = attempt;
  const ended = await writeEnd(dependencies, attempt, failure, now);
  if (ended?.status !== 'failed') discardEvidence(dependencies, scan, fence);
  if (!ended) return 'lost';

  const { code, cause } = failure;
  const { status, error, lost_requeues } = ended;
  const about = { scan_id: scan._id, fence, code, private_cause: cause, status, error, lost_requeues };
  logger.info(about, 'an attempt failed');
  metrics.failedAttempts.inc({ code });
  if (status === 'failed') {
    measureEnd(metrics, ended);
    dependencies.outboxFilled();
  }
  return 'ended';
}

/** Writes the failure to the scan. The capture is stored first, and only if this attempt is the scan's last. */
async function writeEnd(
  dependencies: EndDependencies,
  attempt: Attempt,
  { code, capture }: Failure,
  now: Date,
): Promise<ScanRecord | null> {
  const { scan, fence } = attempt;
  const event: Extract<ScanEvent, { type: 'failure' }> = {
    type: 'failure',
    fence,
    code,
    loaded: hasLoaded(code, capture),
    capture: null,
    exit: capture?.exit ?? null,
    backoffMs: backoffMs(RETRY_BACKOFF, scan.retry_attempt),
  };
  const isLast = advance(scan, event, now)?.set.status === 'failed';
  if (isLast && capture) event.capture = await summaryOf(dependencies, attempt, capture, now);
  return changeScan(dependencies.scans, scan, event, now);
}

/** Failures that come once a request to the target was sent, unless the gateway says that it carried nothing. */
const SENT: ReadonlySet<FailureCode> = new Set(['navigation: TIMEOUT', 'vast: WRAPPER_UNANSWERED']);

/** Statuses of our gateway's own responses: it did not reach the target, or no longer knows the ticket. */
const OF_GATEWAY: ReadonlySet<number> = new Set([...Object.values(GATEWAY_STATUS), 407]);

/**
 * Whether a request to the target went out, answered or not: only then does a scan that is cancelled later stay
 * charged. What an ad tag or a VAST tag requested is among the requests. Pure.
 */
function hasLoaded(code: FailureCode, capture: Pick<Capture, 'landings' | 'requests' | 'traffic'> | null): boolean {
  const hops = capture?.landings.flatMap(({ redirect_chain }) => redirect_chain) ?? [];
  const sent = [...hops, ...(capture?.requests ?? [])];
  const carriedNothing = capture?.traffic?.bytes_sent === 0;
  return (
    (SENT.has(code) && !carriedNothing) ||
    sent.some(({ status_code }) => status_code > 0 && !OF_GATEWAY.has(status_code))
  );
}

/**
 * Stores the capture of a failed attempt. An inconsistent capture must not prevent the scan from failing: it is dropped
 * and logged.
 */
async function summaryOf(
  dependencies: EndDependencies,
  attempt: Attempt,
  capture: Capture,
  now: Date,
): Promise<CaptureSummary | null> {
  try {
    return await storeEvidence(dependencies, attempt, { capture }, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    dependencies.logger.info(
      { scan_id: attempt.scan._id, detail: error.detail },
      'a failed attempt came with unusable evidence',
    );
    return null;
  }
}
