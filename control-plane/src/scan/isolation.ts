import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { Isolation } from '@adsweep/shared/lease/crawl-job.ts';
import { LOST_NODE_REQUEUES_MAX, LOST_REQUEUES_HARD_MAX } from '@adsweep/shared/limits.ts';
import type { ScanRecord } from './scan.ts';

/** What a scan may share with others after `lostRequeues` lost nodes: it may have been the one that ended them. */
export function isolationOf(lostRequeues: number): Isolation {
  if (lostRequeues === 0) return 'shared';
  return lostRequeues === 1 ? 'browser' : 'node';
}

/**
 * What follows the loss of a scan's node: another attempt, or the code it fails with. Only a scan that was alone on its node can have
 * ended it; any other one is tried again, until so many losses say that something else is wrong.
 */
export function afterLoss({
  lost_requeues,
  lease,
}: Pick<ScanRecord, 'lost_requeues' | 'lease'>): 'again' | FailureCode {
  if (lease?.alone && lost_requeues >= LOST_NODE_REQUEUES_MAX) return 'node: LOST';
  return lost_requeues >= LOST_REQUEUES_HARD_MAX ? 'internal: ERROR' : 'again';
}
