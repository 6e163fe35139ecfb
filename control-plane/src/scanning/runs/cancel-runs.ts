import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { CursorPosition } from '../../http/page.ts';
import { type CancelParts, cancelScan } from '../../scan/cancel.ts';
import { filterKey } from '../../scan/filter-keys.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { countersOf, type RunRecord } from './run.ts';
import type { RunStore } from './run-store.ts';

export type CancelRunParts = CancelParts & {
  runs: Pick<RunStore, 'cancel' | 'inCreation'>;
  scans: CancelParts['scans'] & Pick<ScanStore, 'countRun' | 'pendingWith'>;
  releaseRun: (organizationId: string, reservationId: string) => Promise<void>;
};

/**
 * Scans that are cancelled at the same time. They are read whole, and each may have two addresses of 32 KB and 20
 * labels.
 */
const CANCELLED_AT_ONCE = 16;

/**
 * Cancels what of runs and campaigns has not begun: pending scans, and those that are not created yet. Running ones
 * end.
 */
export function cancelRuns(parts: CancelRunParts) {
  const { runs, scans, releaseRun } = parts;

  const cancelPending = async (organizationId: string, key: string): Promise<number> => {
    let cancelled = 0;
    for (let after: CursorPosition | null = null; ; ) {
      const pending = await scans.pendingWith(organizationId, key, after, CANCELLED_AT_ONCE);
      const last: ScanRecord | undefined = pending.at(-1);
      if (!last) return cancelled;
      const done = await inTurns(pending, (scan) => cancelScan(parts, scan, new Date()));
      cancelled += done.filter(Boolean).length;
      after = { at: last.created_at, id: last._id };
    }
  };
  const cancelPendingOfRun = (organizationId: string, runId: string) =>
    cancelPending(organizationId, filterKey('run', runId));

  /**
   * Cancels a run; how many scans. What a step or a request creates in it meanwhile is cancelled by the process that
   * creates it.
   */
  const cancelRun = async ({ _id, organization_id, creation }: RunRecord): Promise<number> => {
    const marked = await runs.cancel(organization_id, _id, new Date());
    if (creation) await releaseRun(organization_id, creation.reservation_id);
    const pending = await cancelPendingOfRun(organization_id, _id);
    if (!marked) return pending;
    const counts = await scans.countRun(organization_id, _id);
    return pending + countersOf(marked, counts).cancelled - counts.cancelled;
  };

  return {
    cancelPendingOfRun,
    cancelRun,

    /** Cancels the pending scans of a campaign, and its runs that are being created; how many scans. */
    async cancelCampaign(organizationId: string, campaignId: string): Promise<number> {
      let cancelled = 0;
      for (const run of await runs.inCreation(organizationId, campaignId)) cancelled += await cancelRun(run);
      return cancelled + (await cancelPending(organizationId, filterKey('campaign', campaignId)));
    },
  };
}
