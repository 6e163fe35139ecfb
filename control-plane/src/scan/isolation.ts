import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { Isolation } from '@adsweep/shared/lease/crawl-job.ts';
import { LOST_NODE_REQUEUES_MAX, LOST_REQUEUES_HARD_MAX } from '@adsweep/shared/limits.ts';
import type { ScanRecord } from './scan.ts';

/** What a scan may share with other scans after `lostRequeues` lost nodes: the scan may be the cause of the losses. */
export function isolationOf(lostRequeues: number): Isolation {
  if (lostRequeues === 0) return 'shared';
  return lostRequeues === 1 ? 'browser' : 'node';
}

/**
 * What happens to a scan whose node was lost: another attempt, or the failure code. Only a scan that was alone on its
 * node is held responsible for the loss; any other scan gets another attempt, up to a hard limit that indicates an
 * internal error.
 */
export function afterLoss({
  lost_requeues,
  lease,
}: Pick<ScanRecord, 'lost_requeues' | 'lease'>): 'again' | FailureCode {
  if (lease?.alone && lost_requeues >= LOST_NODE_REQUEUES_MAX) return 'node: LOST';
  return lost_requeues >= LOST_REQUEUES_HARD_MAX ? 'internal: ERROR' : 'again';
}
