import { gatherByKey } from '../platform/gather-by-key.ts';
import { insertAllOnce } from '../platform/insert-once.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../platform/outbox/outbox-source.ts';
import type { Collection, Filter, Store } from '../platform/store.ts';
import type { ScanChange } from './advance.ts';
import { endedScans } from './ended-scan-store.ts';
import { type FilterSource, filterKeysOf } from './filter-keys.ts';
import type { JobRef, ScanInQueue, ScanKey, ScanRecord } from './scan.ts';
import { LIST_INDEXES, scanLists } from './scan-list-store.ts';
import { IN_QUEUE, type StoredScan } from './stored-scan.ts';
import { targetTexts } from './target-texts.ts';
import { waitingScans } from './waiting-scan-store.ts';

/** New scans of an organization that are stored in one write: some ten milliseconds in the embedded store. */
const INSERTED_AT_ONCE = 32;

/** Together with its parts, the only code that accesses the scans collection. Queries of clients name their organization first. */
export type ScanStore = ReturnType<typeof scanStore>;

/** `changed` is called with each scan whose status has changed. */
export function scanStore(store: Store, changed: (scan: ScanRecord) => void = () => {}) {
  const scans: Collection<StoredScan> = store.collection<StoredScan>('scans');
  const texts = targetTexts(store);
  const insert = gatherByKey<StoredScan, boolean>(
    (_organizationId, records) => insertAllOnce(scans, records),
    INSERTED_AT_ONCE,
  );

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
        { key: { target_text_id: 1 }, sparse: true },
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
     * Removes a scan that has ended; first the text of its target, so that an interrupted removal is simply repeated. A text that the scans
     * of a request share stays: it is removed once no scan names it.
     */
    async remove({ _id, organization_id }: ScanKey): Promise<void> {
      await texts.remove(organization_id, _id);
      await scans.deleteOne({ _id, organization_id, completed_at: { $ne: null } });
    },

    ...scanLists(scans),
    ...waitingScans(scans),
    ...endedScans(scans),

    /** The texts of targets, for the sweep of those that no scan names. */
    texts: {
      page: texts.page,
      removeOrphan: texts.removeOrphan,

      /** Whether a scan names this text as one that it shares with the others of its request. */
      async isShared(textId: string): Promise<boolean> {
        const naming = scans.find({ target_text_id: textId }).limit(1).project<Pick<ScanRecord, '_id'>>({ _id: 1 });
        return (await naming.toArray()).length > 0;
      },
    },

    /** The outboxes of scans. */
    outbox: outboxSource<StoredScan>('scans', scans, ['campaign_id'], ({ _id, organization_id, campaign_id }) => ({
      organizationId: organization_id,
      scanId: _id,
      campaignId: campaign_id,
    })),
  };
}
