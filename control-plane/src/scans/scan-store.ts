import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { insertOnce } from '../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../platform/store.ts';
import type { ScanChange } from './advance.ts';
import type { ScanInQueue, ScanRecord, ScanWithOutbox } from './scan.ts';

/** The only code that touches the scans collection. Questions of clients name their organization first. */
export type ScanStore = ReturnType<typeof scanStore>;

export function scanStore(store: Store) {
  const scans: Collection<ScanRecord> = store.collection<ScanRecord>('scans');

  return {
    async createIndexes(): Promise<void> {
      await scans.createIndexes([
        { key: { organization_id: 1, created_at: -1, _id: -1 } },
        { key: { organization_id: 1, 'tags.tag_slug': 1, created_at: -1 } },
        { key: { status: 1, due_at: 1 } },
        { key: { status: 1, _id: 1 } },
        { key: { report_token: 1 }, unique: true },
        { key: { outbox_at: 1 }, sparse: true },
      ]);
    },

    /** Stores a new scan with what must follow its creation in its outbox; answers null, or the organization's scan of that id where there is one already. */
    async insertUnlessThere(record: ScanRecord): Promise<ScanRecord | null> {
      if (await insertOnce(scans, record)) return null;
      const { _id, organization_id } = record;
      const earlier = await scans.findOne({ _id, organization_id });
      if (!earlier) throw new Error('another scan has the id or the report token of a new one');
      return earlier;
    },

    /** A scan of this organization, or null: missing and someone else's look the same. */
    async find(organizationId: string, id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id, organization_id: organizationId });
    },

    /** A scan whoever owns it: for the farm's own work, never for a client's request. */
    async findForWork(id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id });
    },

    async findByReportToken(token: string): Promise<ScanRecord | null> {
      return scans.findOne({ report_token: token });
    },

    /** Rows `skip`.. of the organization's scans that match, newest first, and how many match in all. */
    async list(organizationId: string, filter: Filter<ScanRecord>, skip: number, limit: number) {
      const where = { ...filter, organization_id: organizationId };
      const [rows, total] = await Promise.all([
        scans.find(where).sort({ created_at: -1, _id: -1 }).skip(skip).limit(limit).toArray(),
        scans.countDocuments(where),
      ]);
      return { rows, total };
    },

    /** The next `limit` scans in `status` by id after `afterId` ('' = from the first), for walks over all of them. */
    async pageInStatus(status: ScanStatus, afterId: string, limit: number): Promise<ScanInQueue[]> {
      return scans
        .find({ status, _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .project<ScanInQueue>({ organization_id: 1, band: 1, campaign_id: 1, due_at: 1, lease: 1 })
        .toArray();
    },

    /** How many scans are in `status`. */
    async countInStatus(status: ScanStatus): Promise<number> {
      return scans.countDocuments({ status });
    },

    /** Scans whose checks nobody has claimed, or whose claim ran out by `now`. */
    async awaitingChecks(now: Date, limit: number): Promise<ScanRecord[]> {
      const [fresh, abandoned] = await Promise.all([
        scans.find({ status: 'crawled' }).sort({ due_at: 1 }).limit(limit).toArray(),
        scans
          .find({ status: 'checking', checks_claimed_until: { $lt: now } })
          .limit(limit)
          .toArray(),
      ]);
      return [...fresh, ...abandoned].slice(0, limit);
    },

    /**
     * Writes a change as one compare-and-set. Answers the scan as it then stands, or null when the document no longer looks like
     * `change.when` (someone was faster).
     */
    async apply(id: string, change: ScanChange, follows: ScanChange['follows'] = []): Promise<ScanRecord | null> {
      const { status, fence, checks_claimed_until: claim } = change.when;
      const outbox = [...change.follows, ...follows];
      const filter: Filter<ScanRecord> = { _id: id, status };
      if (fence !== undefined) filter['lease.fence'] = fence;
      if (claim !== undefined) filter.checks_claimed_until = claim;
      const update =
        outbox.length === 0
          ? { $set: change.set }
          : { $set: { ...change.set, outbox_at: outbox[0]?.at }, $push: { outbox: { $each: outbox } } };
      return scans.findOneAndUpdate(filter, update, { returnDocument: 'after' });
    },

    /** Scans with something in their outbox, longest waiting first. */
    async withOutbox(limit: number): Promise<ScanWithOutbox[]> {
      return scans
        .find({ outbox_at: { $exists: true } })
        .sort({ outbox_at: 1 })
        .limit(limit)
        .project<ScanWithOutbox>({ organization_id: 1, outbox: 1 })
        .toArray();
    },

    /** Takes carried-out entries away; the mark goes with the last of them. */
    async clearOutbox(id: string, entryIds: string[]): Promise<void> {
      await scans.updateOne({ _id: id }, { $pull: { outbox: { id: { $in: entryIds } } } });
      await scans.updateOne({ _id: id, outbox: { $size: 0 } }, { $unset: { outbox_at: '' } });
    },
  };
}
