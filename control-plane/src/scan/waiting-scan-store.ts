import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { pickAtRandom } from '../platform/pick-at-random.ts';
import type { Collection, Filter } from '../platform/store.ts';
import type { ScanInQueue, ScanKey, ScanRecord } from './scan.ts';
import { IN_QUEUE, type StoredScan } from './stored-scan.ts';

const CANDIDATES_PER_PICK = 4;

/** Queries for scans of all organizations that wait for their next step. */
export function waitingScans(scans: Collection<StoredScan>) {
  /** Keys of scans that match, the longest-waiting first. */
  const findWaiting = (where: Filter<StoredScan>, limit: number): Promise<ScanKey[]> =>
    scans
      .find(where)
      .sort({ due_at: 1 })
      .limit(limit * CANDIDATES_PER_PICK)
      .project<ScanKey>({ organization_id: 1 })
      .toArray();

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
     * Scans whose analysis is unclaimed, or whose claim has expired at `now`. Rechecks only get what first analyses leave of `limit`. The
     * scans are chosen at random among the longest-waiting, so that concurrent workers choose different ones.
     */
    async awaitingAnalysis(now: Date, limit: number): Promise<ScanRecord[]> {
      const fresh = findWaiting({ status: 'crawled' }, limit);
      const abandoned = findWaiting({ status: 'checking', checks_claimed_until: { $lt: now } }, limit);
      const first = pickAtRandom((await Promise.all([fresh, abandoned])).flat(), limit);
      const left = limit - first.length;
      const rechecks = left > 0 ? pickAtRandom(await findWaiting({ status: 'rechecking' }, left), left) : [];
      const picked = [...first, ...rechecks];
      const read = await inTurns(picked, ({ _id, organization_id }) => scans.findOne({ _id, organization_id }));
      return read.filter((scan) => scan !== null);
    },
  };
}
