import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Place } from '../../../http/page-cursor.ts';
import { gatherByKey } from '../../../platform/gather-by-key.ts';
import { inTurnByKey } from '../../../platform/in-turn.ts';
import { insertAllOnce } from '../../../platform/insert-once.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../../platform/outbox/outbox-source.ts';
import { pickAtRandom } from '../../../platform/pick-at-random.ts';
import type { Collection, Filter, Store } from '../../../platform/store.ts';
import type { ScanChange } from './advance.ts';
import { type FilterSource, filterKeysOf } from './filter-keys.ts';
import {
  type JobRef,
  LISTED_FIELDS,
  type ListedScan,
  QUEUE_FIELDS,
  type ScanInQueue,
  type ScanKey,
  type ScanRecord,
} from './scan.ts';
import { targetTexts } from './target-texts.ts';

const CANDIDATES_PER_PICK = 4;
/** New scans of an organization that are stored in one write: some ten milliseconds in the embedded store. */
const INSERTED_AT_ONCE = 32;

const IN_QUEUE = Object.fromEntries(QUEUE_FIELDS.map((field) => [field, 1]));

/** The only code that touches the scans collection. Questions of clients name their organization first. */
export type ScanStore = ReturnType<typeof scanStore>;

/** A scan as it is stored: with the keys that lists are filtered by. */
export type StoredScan = ScanRecord & { filter_keys: string[] };

/** Which of an organization's scans are wanted; `isCounted`: an index knows how many they are. */
export type ListQuestion = { filter: Filter<StoredScan>; isCounted: boolean };

/** A page of a list: after a place or from the first row on, `skip` rows left out. */
export type ListWindow = { after: Place | null; skip: number; limit: number };

/** A scan that has ended; `isChecking`: its checks run again. */
export type EndedScan = ScanKey & { completed_at: Date; isChecking: boolean };

/** Which scans a recheck asks for: those of the last days, or all. Page by page: the rows after `after`. */
export type RecheckQuestion = { completedSince: Date | null; after: Place | null; limit: number };

/** Every list is in this order, and each of its indexes ends with it. */
const NEWEST = { created_at: -1, _id: -1 } as const;
const LISTED = Object.fromEntries(LISTED_FIELDS.map((field) => [field, 1]));
const ENDED = { organization_id: 1, completed_at: 1, status: 1 };
/** The states of a scan that has ended before and is checked again. */
const CHECKED_AGAIN: ScanStatus[] = ['rechecking', 'checking'];

/** What lists stand on: the whole list, and each of its filters. */
export const LIST_INDEXES = [
  // With the URL, so that a search for a part of it reads the index and no scan that does not match.
  { key: { organization_id: 1, ...NEWEST, 'target.value': 1 }, countedPrefix: 1 },
  { key: { organization_id: 1, status: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, country_code: 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, 'tags.tag_slug': 1, ...NEWEST }, countedPrefix: 2 },
  { key: { organization_id: 1, filter_keys: 1, ...NEWEST }, countedPrefix: 2 },
];

/** `changed` is told each scan whose status has changed. */
export function scanStore(store: Store, changed: (scan: ScanRecord) => void = () => {}) {
  const scans: Collection<StoredScan> = store.collection<StoredScan>('scans');
  const texts = targetTexts(store);
  const inTurn = inTurnByKey();
  const insert = gatherByKey<StoredScan, boolean>(
    (_organizationId, records) => insertAllOnce(scans, records),
    INSERTED_AT_ONCE,
  );

  const readPage = async (where: Filter<StoredScan>, { after, skip, limit }: ListWindow) => {
    const from: Filter<StoredScan> = after ? { $and: [where, earlierThan('created_at', after)] } : where;
    const found = await scans
      .find(from)
      .sort(NEWEST)
      .skip(skip)
      .limit(limit + 1)
      .project<ListedScan>(LISTED)
      .toArray();
    // All that match have been seen: what a search for few walked along need not be walked again.
    const isWhole = !after && found.length <= limit && (found.length > 0 || skip === 0);
    const total = isWhole ? skip + found.length : await scans.countDocuments(where);
    const rows = found.slice(0, limit);
    const end = found.length > limit ? rows.at(-1) : undefined;
    return { rows, total, last: end ? { at: end.created_at, id: end._id } : null };
  };

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

  /** Keys of scans in one of these states, those that wait longest first. */
  const findWaiting = (where: Filter<StoredScan>, limit: number): Promise<ScanKey[]> =>
    scans
      .find(where)
      .sort({ due_at: 1 })
      .limit(limit * CANDIDATES_PER_PICK)
      .project<ScanKey>({ organization_id: 1 })
      .toArray();

  return {
    async createIndexes(): Promise<void> {
      await scans.createIndexes([
        ...LIST_INDEXES,
        { key: { organization_id: 1, job_id: 1 } },
        { key: { status: 1, due_at: 1 } },
        { key: { status: 1, _id: 1 } },
        { key: { status: 1, slot: 1 } },
        { key: { completed_at: 1 } },
        { key: { organization_id: 1, completed_at: -1, _id: -1 } },
        // 128 random bits need no unique index, which a sharded collection could not have.
        { key: { report_token: 1 } },
        ...OUTBOX_INDEXES,
      ]);
    },

    /** Stores a new scan with what must follow its creation in its outbox; answers null, or the organization's scan of that id where there is one already. */
    async insertUnlessThere(record: ScanRecord): Promise<ScanRecord | null> {
      const stored = { ...(await texts.storeTexts(record)), filter_keys: filterKeysOf(record) };
      const { _id, organization_id } = record;
      if (await insert(organization_id, stored)) return null;
      const earlier = await scans.findOne({ _id, organization_id });
      if (!earlier) throw new Error('a scan of another organization has the id of a new one');
      return earlier;
    },

    /** A scan of this organization, or null: missing and someone else's look the same. */
    async find(organizationId: string, id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id, organization_id: organizationId });
    },

    /** How many scans of these ids the organization has. */
    async countOf(organizationId: string, ids: string[]): Promise<number> {
      return scans.countDocuments({ _id: { $in: ids }, organization_id: organizationId });
    },

    /** A member of a crawl job, or null: missing and another job's look the same. */
    async findMember({ organizationId, jobId }: JobRef, id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id, organization_id: organizationId, job_id: jobId });
    },

    /** The members of a crawl job. */
    async membersOf({ organizationId, jobId }: JobRef): Promise<ScanInQueue[]> {
      return scans.find({ organization_id: organizationId, job_id: jobId }).project<ScanInQueue>(IN_QUEUE).toArray();
    },

    /** A scan with the whole of its target. */
    async withTarget(scan: ScanRecord): Promise<ScanRecord> {
      return { ...scan, target: await texts.read(scan) };
    },

    async findByReportToken(token: string): Promise<ScanRecord | null> {
      return scans.findOne({ report_token: token });
    },

    /**
     * A page of the organization's scans that match, newest first, how many match in all, and its last row where there are more. Searches
     * that must walk are made one at a time for each organization, so that none takes more than its share of the process.
     */
    async list(organizationId: string, { filter, isCounted }: ListQuestion, window: ListWindow) {
      const where: Filter<StoredScan> = { $and: [{ organization_id: organizationId }, filter] };
      return isCounted ? readPage(where, window) : inTurn(organizationId, () => readPage(where, window));
    },

    /** How many of the organization's scans carry a tag. */
    async countWithTag(organizationId: string, slug: string): Promise<number> {
      return scans.countDocuments({ organization_id: organizationId, 'tags.tag_slug': slug });
    },

    /** Takes a tag off all of the organization's scans. */
    async removeTag(organizationId: string, slug: string): Promise<void> {
      const carries = { organization_id: organizationId, 'tags.tag_slug': slug };
      await scans.updateMany(carries, { $pull: { tags: { tag_slug: slug } } });
    },

    /** The next `limit` scans in `status` by id after `afterId` ('' = from the first), for walks over all of them. */
    async pageInStatus(status: ScanStatus, afterId: string, limit: number): Promise<ScanInQueue[]> {
      return scans
        .find({ status, _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .project<ScanInQueue>(IN_QUEUE)
        .toArray();
    },

    /** How many crawl jobs have their first member in `status`. */
    async countJobsInStatus(status: ScanStatus): Promise<number> {
      return scans.countDocuments({ status, slot: 0 });
    },

    /**
     * Scans whose checks nobody has claimed, or whose claim ran out by `now`; rechecks take what first checks leave. They are picked at
     * random among those that wait longest, so that workers that look at the same time find different ones.
     */
    async awaitingChecks(now: Date, limit: number): Promise<ScanRecord[]> {
      const fresh = findWaiting({ status: 'crawled' }, limit);
      const abandoned = findWaiting({ status: 'checking', checks_claimed_until: { $lt: now } }, limit);
      const first = pickAtRandom((await Promise.all([fresh, abandoned])).flat(), limit);
      const left = limit - first.length;
      const again = left > 0 ? pickAtRandom(await findWaiting({ status: 'rechecking' }, left), left) : [];
      const picked = [...first, ...again];
      const read = await Promise.all(picked.map(({ _id, organization_id }) => scans.findOne({ _id, organization_id })));
      return read.filter((scan) => scan !== null);
    },

    /**
     * Writes a change of `scan` as one compare-and-set. Answers the scan as it then stands, or null when the document no longer looks like
     * `change.when` (someone was faster).
     */
    async apply(scan: ScanKey & FilterSource, change: ScanChange): Promise<ScanRecord | null> {
      const { _id, organization_id } = scan;
      const { fence, ...when } = change.when;
      const filter: Filter<StoredScan> = { _id, organization_id, ...when };
      if (fence !== undefined) filter['lease.fence'] = fence;
      const keys = 'classification' in change.set ? { filter_keys: filterKeysOf({ ...scan, ...change.set }) } : {};
      const update = { $set: { ...change.set, ...keys }, ...pushToOutbox(change.follows) };
      const after = await scans.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      if (after && change.set.status !== undefined) changed(after);
      return after;
    },

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

    /** Removes a scan that has ended, the text of its target first, so that an interrupted removal is simply repeated. */
    async remove({ _id, organization_id }: ScanKey): Promise<void> {
      await texts.remove(organization_id, _id);
      await scans.deleteOne({ _id, organization_id, completed_at: { $ne: null } });
    },

    /** When these scans ended and which capture they name, by their ids; those that are gone are missing. */
    async endsOf(ids: string[]): Promise<Map<string, Pick<ScanRecord, 'completed_at' | 'capture'>>> {
      const found = await scans
        .find({ _id: { $in: ids } })
        .project<Pick<ScanRecord, '_id' | 'completed_at' | 'capture'>>({ completed_at: 1, 'capture.id': 1 })
        .toArray();
      return new Map(found.map((scan) => [scan._id, scan]));
    },

    /** The texts of targets, for the sweep of those that no scan has. */
    texts: { page: texts.page, removeOrphan: texts.removeOrphan },

    /** What follows changes of scans. */
    outbox: outboxSource<StoredScan>('scans', scans, ['campaign_id'], ({ _id, organization_id, campaign_id }) => ({
      organizationId: organization_id,
      scanId: _id,
      campaignId: campaign_id,
    })),
  };
}

/** The rows after a place in an order by `field`, the last first. */
const earlierThan = (field: 'created_at' | 'completed_at', { at, id }: Place): Filter<StoredScan> => ({
  $or: [{ [field]: { $lt: at } }, { [field]: at, _id: { $lt: id } }],
});
