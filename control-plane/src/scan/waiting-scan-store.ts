import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { type DueByOrganization, FEW, pickingInTurns } from '../platform/pick-in-turns.ts';
import type { Collection, Filter } from '../platform/store.ts';
import { CLAIM_FIELDS, type ScanInQueue, type ScanToClaim } from './scan.ts';
import { IN_QUEUE, type StoredScan } from './stored-scan.ts';

const TO_CLAIM = Object.fromEntries(CLAIM_FIELDS.map((field) => [field, 1]));

/** Queries for scans of all organizations that wait for their next step. */
export function waitingScans(scans: Collection<StoredScan>) {
  const search = (where: Filter<StoredScan>, among: Filter<StoredScan>, limit: number): Promise<ScanToClaim[]> =>
    scans
      .find({ ...where, ...among })
      .sort({ organization_id: 1, crawled_at: 1 })
      .limit(limit)
      .project<ScanToClaim>(TO_CLAIM)
      .toArray();
  /** Scans that match; of one organization, those that were crawled first come first. */
  const waiting = (where: Filter<StoredScan>): DueByOrganization<ScanToClaim> => ({
    first: (limit) => search(where, {}, limit),
    organizationAfter: async (id) =>
      (await search(where, { organization_id: { $gt: id } }, 1))[0]?.organization_id ?? null,
    of: (organization_id, limit) => search(where, { organization_id }, limit),
  });
  const pick = { checking: pickingInTurns(), crawled: pickingInTurns(), rechecking: pickingInTurns() };

  return {
    /**
     * The next `limit` scans in `status` by id after `afterId` ('': from the first), for iterating over all of them.
     */
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
     * The scans that no worker has begun to analyse since they were crawled: how many, counted up to `most`, and when
     * the first of them was crawled (null: there is none). One search for each organization that has any.
     */
    async waitingForAnalysis(most: number): Promise<{ count: number; oldestAt: Date | null }> {
      const where: Filter<StoredScan> = { status: 'crawled' };
      const count = await scans.countDocuments(where, { limit: most });
      let oldestAt: Date | null = null;
      for (let after = ''; count > 0; ) {
        const [first] = await search(where, { organization_id: { $gt: after } }, 1);
        if (!first) break;
        after = first.organization_id;
        if (first.crawled_at && (!oldestAt || first.crawled_at < oldestAt)) oldestAt = first.crawled_at;
      }
      return { count, oldestAt };
    },

    /**
     * Scans whose analysis is unclaimed, or whose claim has expired at `now`, one of each organization in turn.
     * Rechecks only get what first analyses leave of `limit`, and the organizations in `except` nothing. One search
     * finds all of them while they are few.
     */
    async awaitingAnalysis(now: Date, limit: number, except: readonly string[] = []): Promise<ScanToClaim[]> {
      const ofOthers = except.length > 0 && { $and: [{ organization_id: { $nin: [...except] } }] };
      const expired = { status: 'checking' as const, checks_claimed_until: { $lt: now } };
      const any: Filter<StoredScan> = {
        ...ofOthers,
        status: { $in: ['checking', 'crawled', 'rechecking'] },
        $or: [{ status: { $ne: 'checking' } }, { checks_claimed_until: { $lt: now } }],
      };
      const all = await scans.find(any).limit(FEW).project<ScanToClaim>(TO_CLAIM).toArray();
      all.sort((a, b) => (a.crawled_at?.getTime() ?? 0) - (b.crawled_at?.getTime() ?? 0));
      const picked: ScanToClaim[] = [];
      for (const [status, where] of [
        ['checking', expired],
        ['crawled', { status: 'crawled' }],
        ['rechecking', { status: 'rechecking' }],
      ] as const) {
        const known = all.length < FEW && { first: async () => all.filter((scan) => scan.status === status) };
        picked.push(
          ...(await pick[status]({ ...waiting({ ...where, ...ofOthers }), ...known }, limit - picked.length)),
        );
      }
      return picked;
    },
  };
}
