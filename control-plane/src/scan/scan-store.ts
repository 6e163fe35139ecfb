import { carried } from '@adsweep/shared/tracing/spans.ts';
import { gatherByKey } from '../platform/gather-by-key.ts';
import { insertAllOnce } from '../platform/insert-once.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../platform/outbox/outbox-source.ts';
import type { Collection, Filter, Store } from '../platform/store.ts';
import type { ScanChange } from './advance.ts';
import { endedScans } from './ended-scan-store.ts';
import { type FilterSource, filterKeysOf } from './filter-keys.ts';
import { runCounts } from './run-counts.ts';
import {
  DISCOVERED_FIELDS,
  type DiscoveredScan,
  type JobRef,
  type ScanInQueue,
  type ScanKey,
  type ScanRecord,
} from './scan.ts';
import { LIST_INDEXES, scanLists } from './scan-list-store.ts';
import { IN_QUEUE, type StoredScan } from './stored-scan.ts';
import { targetTexts } from './target-texts.ts';
import { waitingScans } from './waiting-scan-store.ts';

/** New scans of an organization that are stored in one write: about ten milliseconds in the embedded store. */
const INSERTED_AT_ONCE = 32;
/** A scan with addresses of so many characters counts for another one. */
const LONG_ADDRESSES = 8_192;

const DISCOVERED = Object.fromEntries(DISCOVERED_FIELDS.map((field) => [field, 1]));

/**
 * Together with the stores it includes, the only code that accesses the scans collection. Clients' queries filter by
 * organization first.
 */
export type ScanStore = ReturnType<typeof scanStore>;

/** `changed` is called with each scan whose status has changed. */
export function scanStore(store: Store, changed: (scan: ScanRecord) => void = () => {}) {
  const scans: Collection<StoredScan> = store.collection<StoredScan>('scans');
  const texts = targetTexts(store);
  const { removeCounted, countRun, ...counts } = runCounts(store, scans);
  const insert = gatherByKey<StoredScan, boolean>(
    (_organizationId, records) => insertAllOnce(scans, records),
    INSERTED_AT_ONCE,
    ({ target, referrer }) => 1 + Math.floor((target.value.length + (referrer?.length ?? 0)) / LONG_ADDRESSES),
  );

  /** One compare-and-set. Returns the changed scan, or null if the document no longer matches `change.when`. */
  const write = async (
    { _id, organization_id }: ScanKey,
    { when, set, follows }: ScanChange,
    keys: Pick<StoredScan, 'filter_keys'> | undefined,
  ): Promise<ScanRecord | null> => {
    const { fence, ...fields } = when;
    const filter: Filter<StoredScan> = { _id, organization_id, ...fields };
    if (fence !== undefined) filter['lease.fence'] = fence;
    const update = { $set: { ...set, ...keys }, ...pushToOutbox(organization_id, follows) };
    const after = await scans.findOneAndUpdate(filter, update, { returnDocument: 'after', projection: { outbox: 0 } });
    if (after && set.status !== undefined) changed(after);
    return after;
  };

  return {
    async createIndexes(): Promise<void> {
      await counts.createIndexes();
      await scans.createIndexes([
        ...LIST_INDEXES,
        { key: { organization_id: 1, job_id: 1 } },
        { key: { status: 1, organization_id: 1, crawled_at: 1 } },
        { key: { status: 1, _id: 1 } },
        { key: { status: 1, slot: 1 } },
        { key: { completed_at: 1 } },
        { key: { organization_id: 1, completed_at: -1, _id: -1 } },
        // Not unique: a sharded collection could not have that index, and 128 random bits do not collide.
        { key: { report_token: 1 } },
        { key: { target_text_id: 1 }, sparse: true },
        ...OUTBOX_INDEXES,
      ]);
    },

    /**
     * Stores a new scan with its outbox entries and returns null; if the organization already has a scan with this id,
     * returns that one.
     */
    async insertUnlessExists(record: ScanRecord): Promise<ScanRecord | null> {
      const stored = { ...(await texts.storeTexts(record)), filter_keys: filterKeysOf(record) };
      const { _id, organization_id } = record;
      if (await insert(organization_id, stored)) return null;
      const earlier = await scans.findOne({ _id, organization_id });
      if (!earlier) throw new Error('a scan of another organization has the id of a new one');
      return earlier;
    },

    /** A scan of this organization; null if it does not exist or belongs to another organization. */
    async find(organizationId: string, id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id, organization_id: organizationId });
    },

    /** Counts the organization's scans with these ids. */
    async countOf(organizationId: string, ids: string[]): Promise<number> {
      return scans.countDocuments({ _id: { $in: ids }, organization_id: organizationId });
    },

    /**
     * Counts those of the organization's scans with these ids that have taken their checks from this reservation. From
     * which one those of earlier versions have is not known: they count too.
     */
    async countReserved(organizationId: string, ids: string[], reservedBy: string): Promise<number> {
      const unknown = { reserved_by: { $exists: false } };
      const where = { _id: { $in: ids }, organization_id: organizationId };
      return scans.countDocuments({ ...where, $or: [{ reserved_by: reservedBy }, unknown] });
    },

    /** A member of a crawl job; null if it does not exist or is a member of another job. */
    async findMember({ organizationId, jobId }: JobRef, id: string): Promise<ScanRecord | null> {
      return scans.findOne({ _id: id, organization_id: organizationId, job_id: jobId });
    },

    /** The members of a crawl job. */
    async membersOf({ organizationId, jobId }: JobRef): Promise<ScanInQueue[]> {
      return scans.find({ organization_id: organizationId, job_id: jobId }).project<ScanInQueue>(IN_QUEUE).toArray();
    },

    /** The scans of the ads that the scan `parentId` of this job found on its page, in the order of the page. */
    async discoveredBy({ organizationId, jobId }: JobRef, parentId: string): Promise<DiscoveredScan[]> {
      const found = scans.find({ organization_id: organizationId, job_id: jobId, parent_scan_id: parentId });
      return found.sort({ slot: 1 }).project<DiscoveredScan>(DISCOVERED).toArray();
    },

    /** The scan with its complete target. */
    async withTarget(scan: ScanRecord): Promise<ScanRecord> {
      return { ...scan, target: await texts.read(scan) };
    },

    async findByReportToken(token: string): Promise<ScanRecord | null> {
      return scans.findOne({ report_token: token });
    },

    /** The organization of the scan with this token, without reading the scan. */
    async ownerOfReport(token: string): Promise<string | null> {
      const found = await scans.findOne({ report_token: token }, { projection: { organization_id: 1 } });
      return found?.organization_id ?? null;
    },

    /**
     * Writes a change of `scan` as one compare-and-set. Returns the changed scan, or null if the document no longer
     * matches `change.when` (another process changed it first).
     */
    async apply(scan: ScanKey & FilterSource, change: ScanChange): Promise<ScanRecord | null> {
      const isFiltered = 'classification' in change.set || 'final_status' in change.set;
      return write(scan, change, isFiltered ? { filter_keys: filterKeysOf({ ...scan, ...change.set }) } : undefined);
    },

    /** The same for a lease or a claim, which change no key that lists are filtered by. */
    applyClaim: (scan: ScanKey, change: ScanChange): Promise<ScanRecord | null> => write(scan, change, undefined),

    /** Records that the target of a member was requested; false if it does not run under this fence. */
    async setLoaded({ organizationId, jobId }: JobRef, id: string, fence: number): Promise<boolean> {
      const member = { _id: id, organization_id: organizationId, job_id: jobId };
      const running: Filter<StoredScan> = { ...member, status: 'running', 'lease.fence': fence };
      return (await scans.updateOne(running, { $set: { loaded: true } })).matchedCount === 1;
    },

    /**
     * Removes a scan that has ended. The text of its target is removed first, so that an interrupted removal can be
     * repeated. A text that the scans of a request share is kept: it is removed when no scan refers to it.
     */
    async remove({ _id, organization_id }: ScanKey): Promise<void> {
      await texts.remove(organization_id, _id);
      await removeCounted({ _id, organization_id }, () =>
        scans.deleteOne({ _id, organization_id, completed_at: { $ne: null } }),
      );
    },

    countRun,
    ...scanLists(scans),
    ...waitingScans(scans),
    ...endedScans(scans),

    /** The texts of targets, for the removal of orphans. */
    texts: {
      page: texts.page,
      removeOrphan: texts.removeOrphan,

      /** Whether a scan refers to this text as one that the scans of its request share. */
      async isShared(textId: string): Promise<boolean> {
        const referring = scans.find({ target_text_id: textId }).limit(1).project<Pick<ScanRecord, '_id'>>({ _id: 1 });
        return (await referring.toArray()).length > 0;
      },
    },

    /** The outboxes of scans. */
    outbox: outboxSource<StoredScan>(
      'scans',
      scans,
      ['campaign_id', 'traceparent'],
      ({ _id, organization_id, campaign_id, traceparent }) => ({
        organizationId: organization_id,
        scanId: _id,
        campaignId: campaign_id,
        ...carried(traceparent),
      }),
    ),
  };
}
