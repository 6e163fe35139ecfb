import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { type DueByOrganization, pickingInTurns } from '../platform/pick-in-turns.ts';
import type { Collection, Filter } from '../platform/store.ts';
import type { ScanInQueue, ScanKey, ScanRecord } from './scan.ts';
import { IN_QUEUE, type StoredScan } from './stored-scan.ts';

/** Queries for scans of all organizations that wait for their next step. */
export function waitingScans(scans: Collection<StoredScan>) {
  /** Keys of scans that match; of one organization, those that were crawled first come first. */
  const waiting = (where: Filter<StoredScan>): DueByOrganization<ScanKey> => {
    const search = (among: Filter<StoredScan>, limit: number): Promise<ScanKey[]> =>
      scans
        .find({ ...where, ...among })
        .sort({ organization_id: 1, crawled_at: 1 })
        .limit(limit)
        .project<ScanKey>({ organization_id: 1 })
        .toArray();
    return {
      first: (limit) => search({}, limit),
      organizationAfter: async (id) => (await search({ organization_id: { $gt: id } }, 1))[0]?.organization_id ?? null,
      of: (organization_id, limit) => search({ organization_id }, limit),
    };
  };
  const pick = { abandoned: pickingInTurns(), crawled: pickingInTurns(), rechecking: pickingInTurns() };

  return {
    /** The next `limit` scans in `status` by id after `afterId` ('': from the first), for iterating over all of them. */
    async pageInStatus(status: ScanStatus, afterId: string, limit: number): Promise<ScanInQueue[]> {
      return scans
        .find({ status, _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .project<ScanInQueue>(IN_QUEUE)
        .toArray();
    },

    /** Counts the crawl jobs whose first member is in `status`. */
    async countJobsInStatus(status: ScanStatus): Promise<number> {
      return scans.countDocuments({ status, slot: 0 });
    },

    /**
     * Scans whose analysis is unclaimed, or whose claim has expired at `now`, one of each organization in turn. Rechecks only get what first
     * analyses leave of `limit`.
     */
    async awaitingAnalysis(now: Date, limit: number): Promise<ScanRecord[]> {
      const abandoned = waiting({ status: 'checking', checks_claimed_until: { $lt: now } });
      const picked = await pick.abandoned(abandoned, limit);
      picked.push(...(await pick.crawled(waiting({ status: 'crawled' }), limit - picked.length)));
      picked.push(...(await pick.rechecking(waiting({ status: 'rechecking' }), limit - picked.length)));
      const read = await inTurns(picked, ({ _id, organization_id }) => scans.findOne({ _id, organization_id }));
      return read.filter((scan) => scan !== null);
    },
  };
}
