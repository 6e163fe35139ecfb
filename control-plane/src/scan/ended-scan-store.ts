import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { CursorPosition } from '../http/page.ts';
import type { Collection, Filter } from '../platform/store.ts';
import type { ScanKey, ScanRecord } from './scan.ts';
import { earlierThan, type StoredScan } from './stored-scan.ts';

/** A scan that has ended; `isChecking`: its checks run again. */
export type EndedScan = ScanKey & { completed_at: Date; isChecking: boolean };

/** Which scans a recheck asks for: those of the last days, or all. Page by page: the rows after `after`. */
export type RecheckQuestion = { completedSince: Date | null; after: CursorPosition | null; limit: number };

const ENDED = { organization_id: 1, completed_at: 1, status: 1 };
/** The states of a scan that has ended before and is checked again. */
const CHECKED_AGAIN: ScanStatus[] = ['rechecking', 'checking'];

/** Scans that have ended: what is checked again, and what is removed when it is old enough. */
export function endedScans(scans: Collection<StoredScan>) {
  // A scan that is checked again keeps the time at which it ended first.
  const findEnded = async (where: Filter<StoredScan>, limit: number): Promise<EndedScan[]> => {
    const found = await scans
      .find(where)
      .sort({ completed_at: 1 })
      .limit(limit)
      .project<Pick<ScanRecord, '_id' | 'organization_id' | 'status'> & { completed_at: Date }>(ENDED)
      .toArray();
    return found.map(({ status, ...ended }) => ({ ...ended, isChecking: CHECKED_AGAIN.includes(status) }));
  };

  return {
    /**
     * A page of the organization's scans that have finished and whose evidence is there, those that are being checked again among them:
     * the newest first, or, of those that completed since a moment, the last ones first. `last`: its last row, where there can be more.
     */
    async finishedBefore(organizationId: string, { completedSince, after, limit }: RecheckQuestion) {
      const field = completedSince ? 'completed_at' : 'created_at';
      const where: Filter<StoredScan>[] = [
        { organization_id: organizationId, status: { $in: ['completed', 'partial', ...CHECKED_AGAIN] } },
        {
          evidence_removed_at: { $exists: false },
          completed_at: completedSince ? { $gte: completedSince } : { $ne: null },
        },
        ...(after ? [earlierThan(field, after)] : []),
      ];
      const rows = await scans
        .find({ $and: where })
        .sort({ [field]: -1, _id: -1 })
        .limit(limit)
        .toArray();
      const end = rows.length === limit ? rows.at(-1) : undefined;
      return { rows: rows as ScanRecord[], last: end ? { at: end[field]!, id: end._id } : null };
    },

    /** Scans that ended at `until` or before, the earliest first; those that are not done yet are left out. */
    async endedUntil(until: Date, limit: number): Promise<EndedScan[]> {
      const isDone = { outbox_at: { $exists: false }, status: { $nin: CHECKED_AGAIN } };
      return findEnded({ completed_at: { $lte: until }, ...isDone }, limit);
    },

    /** Scans that ended from `from` to `until` and whose evidence was not removed yet, the earliest first. */
    async endedWithEvidence(from: Date, until: Date, limit: number): Promise<EndedScan[]> {
      return findEnded({ completed_at: { $gte: from, $lte: until }, evidence_removed_at: { $exists: false } }, limit);
    },

    /** Notes that a scan's capture and pictures are gone. */
    async forgetEvidence({ _id, organization_id }: ScanKey, now: Date): Promise<void> {
      const key = { _id, organization_id };
      await scans.updateOne(key, { $set: { evidence_removed_at: now } });
      await scans.updateOne({ ...key, capture: { $ne: null } }, { $set: { 'capture.has_screenshot': false } });
    },

    /** When these scans ended and which capture they name, by their ids; those that are gone are missing. */
    async endsOf(ids: string[]): Promise<Map<string, Pick<ScanRecord, 'completed_at' | 'capture'>>> {
      const found = await scans
        .find({ _id: { $in: ids } })
        .project<Pick<ScanRecord, '_id' | 'completed_at' | 'capture'>>({ completed_at: 1, 'capture.id': 1 })
        .toArray();
      return new Map(found.map((scan) => [scan._id, scan]));
    },
  };
}
