import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { CursorPosition } from '../http/page.ts';
import type { Collection, Filter } from '../platform/store.ts';
import { filterKey } from './filter-keys.ts';
import type { ScanKey, ScanRecord } from './scan.ts';
import { earlierThan, type StoredScan } from './stored-scan.ts';

/** A scan that has ended; it may be analysed again. */
export type EndedScan = ScanKey & { completed_at: Date };

/**
 * Selects a page of scans to recheck: those that completed since a time, or all (null). `after`: the last row of the
 * previous page.
 */
export type RecheckQuestion = { completedSince: Date | null; after: CursorPosition | null; limit: number };

/** What policy sets look at in a finished scan. */
export type JudgedScan = Pick<ScanRecord, '_id' | 'country_code' | 'classification' | 'created_at'> & {
  tags: { tag_slug: string }[];
};
export type JudgedQuestion = { since: Date; campaigns: string[] | null; after: CursorPosition | null; limit: number };

/** The exit of a scan that has ended, and the country that was asked for. */
export type UsedExit = Pick<ScanRecord, '_id' | 'organization_id' | 'country_code' | 'error'> & {
  exit: NonNullable<ScanRecord['exit']>;
  completed_at: Date;
};
const USED_EXIT = { organization_id: 1, country_code: 1, error: 1, exit: 1, completed_at: 1 } as const;

const JUDGED = { country_code: 1, classification: 1, created_at: 1, 'tags.tag_slug': 1 };
const ENDED = { organization_id: 1, completed_at: 1 };
/** The states of a scan during a recheck. */
const CHECKED_AGAIN: ScanStatus[] = ['rechecking', 'checking'];

/** Queries for scans that have ended, for rechecks and retention. */
export function endedScans(scans: Collection<StoredScan>) {
  // `completed_at` is kept during a recheck: the status says whether one is running.
  const findEnded = (where: Filter<StoredScan>, limit: number): Promise<EndedScan[]> =>
    scans.find(where).sort({ completed_at: 1 }).limit(limit).project<EndedScan>(ENDED).toArray();

  return {
    /**
     * A page of the organization's finished scans that have their evidence, those in a recheck included: newest first,
     * or with `completedSince` by the time of completion, latest first. `last`: the position of its last row; null if
     * there are no more rows.
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

    /**
     * A page of the organization's finished scans that were created since a time, newest first, with what policy sets
     * look at. `campaigns`: of these alone.
     */
    async judgedSince(
      organization_id: string,
      { since, campaigns, after, limit }: JudgedQuestion,
    ): Promise<{ rows: JudgedScan[]; last: CursorPosition | null }> {
      const where: Filter<StoredScan>[] = [
        { organization_id, status: { $in: ['completed', 'partial'] }, created_at: { $gte: since } },
        ...(campaigns ? [{ filter_keys: { $in: campaigns.map((id) => filterKey('campaign', id)) } }] : []),
        ...(after ? [earlierThan('created_at', after)] : []),
      ];
      const rows = await scans
        .find({ $and: where })
        .sort({ created_at: -1, _id: -1 })
        .limit(limit)
        .project<JudgedScan>(JUDGED)
        .toArray();
      const end = rows.length === limit ? rows.at(-1) : undefined;
      return { rows, last: end ? { at: end.created_at, id: end._id } : null };
    },

    /**
     * Scans that ended at `until` or before, the earliest first; without those that have outbox entries or are in a
     * recheck.
     */
    async endedUntil(until: Date, limit: number): Promise<EndedScan[]> {
      const isDone = { outbox_at: { $exists: false }, status: { $nin: CHECKED_AGAIN } };
      return findEnded({ completed_at: { $lte: until }, ...isDone }, limit);
    },

    /** Scans that ended between `from` and `until` and still have evidence, or a part of it, the earliest first. */
    async endedWithEvidence(from: Date, until: Date, limit: number): Promise<EndedScan[]> {
      return findEnded({ completed_at: { $gte: from, $lte: until }, evidence_gone: { $exists: false } }, limit);
    },

    /**
     * Of all organizations, the newest `limit` scans that ended since a time, as far as they used an exit: the last
     * first.
     */
    async usedExits(since: Date, limit: number): Promise<UsedExit[]> {
      const found = await scans
        .find({ completed_at: { $gte: since } })
        .sort({ completed_at: -1 })
        .limit(limit)
        .project<Omit<UsedExit, 'exit'> & Pick<ScanRecord, 'exit'>>(USED_EXIT)
        .toArray();
      return found.flatMap((scan) => (scan.exit ? [{ ...scan, exit: scan.exit }] : []));
    },

    /**
     * Records that a scan's capture and images are about to be removed; from then on no recheck of it begins. False: it
     * is being rechecked, or does not exist.
     */
    async beginRemoval({ _id, organization_id }: ScanKey, now: Date): Promise<boolean> {
      const key = { _id, organization_id, status: { $nin: CHECKED_AGAIN } };
      const begun = { evidence_removed_at: now };
      const captured = { $set: { ...begun, 'capture.has_screenshot': false } };
      if ((await scans.updateOne({ ...key, capture: { $ne: null } }, captured)).matchedCount === 1) return true;
      return (await scans.updateOne({ ...key, capture: null }, { $set: begun })).matchedCount === 1;
    },

    /** Records that they were removed. */
    async endRemoval({ _id, organization_id }: ScanKey): Promise<void> {
      await scans.updateOne({ _id, organization_id }, { $set: { evidence_gone: true } });
    },

    /** The end and the capture id of these scans, by scan id; scans that no longer exist are missing. */
    async endsOf(ids: string[]): Promise<Map<string, Pick<ScanRecord, 'completed_at' | 'capture'>>> {
      const found = await scans
        .find({ _id: { $in: ids } })
        .project<Pick<ScanRecord, '_id' | 'completed_at' | 'capture'>>({ completed_at: 1, 'capture.id': 1 })
        .toArray();
      return new Map(found.map((scan) => [scan._id, scan]));
    },
  };
}
