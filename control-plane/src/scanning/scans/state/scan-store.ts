import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import { insertOnce } from '../../../platform/insert-once.ts';
import { OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../../platform/outbox/outbox-source.ts';
import { pickAtRandom } from '../../../platform/pick-at-random.ts';
import type { Collection, Filter, Store } from '../../../platform/store.ts';
import type { ScanChange } from './advance.ts';
import type { ScanInQueue, ScanRecord } from './scan.ts';

const CANDIDATES_PER_PICK = 4;

/** The only code that touches the scans collection. Questions of clients name their organization first. */
export type ScanStore = ReturnType<typeof scanStore>;

export function scanStore(store: Store) {
  const scans: Collection<ScanRecord> = store.collection<ScanRecord>('scans');

  return {
    async createIndexes(): Promise<void> {
      await scans.createIndexes([
        { key: { organization_id: 1, created_at: -1, _id: -1 } },
        { key: { organization_id: 1, 'tags.tag_slug': 1, created_at: -1 } },
        { key: { organization_id: 1, job_id: 1 } },
        { key: { status: 1, due_at: 1 } },
        { key: { status: 1, _id: 1 } },
        { key: { report_token: 1 }, unique: true },
        ...OUTBOX_INDEXES,
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

    /**
     * Scans whose checks nobody has claimed, or whose claim ran out by `now`. They are picked at random among those that wait longest,
     * so that workers that look at the same time find different ones.
     */
    async awaitingChecks(now: Date, limit: number): Promise<ScanRecord[]> {
      const fresh = { status: 'crawled' as const };
      const abandoned = { status: 'checking' as const, checks_claimed_until: { $lt: now } };
      const found = await Promise.all(
        [fresh, abandoned].map((waiting) =>
          scans
            .find(waiting)
            .sort({ due_at: 1 })
            .limit(limit * CANDIDATES_PER_PICK)
            .project<Pick<ScanRecord, '_id'>>({ _id: 1 })
            .toArray(),
        ),
      );
      const ids = pickAtRandom(found.flat(), limit).map(({ _id }) => _id);
      return ids.length === 0 ? [] : scans.find({ _id: { $in: ids } }).toArray();
    },

    /**
     * Writes a change as one compare-and-set. Answers the scan as it then stands, or null when the document no longer looks like
     * `change.when` (someone was faster).
     */
    async apply(id: string, change: ScanChange): Promise<ScanRecord | null> {
      const { fence, ...when } = change.when;
      const filter: Filter<ScanRecord> = { _id: id, ...when };
      if (fence !== undefined) filter['lease.fence'] = fence;
      const update = { $set: change.set, ...pushToOutbox(change.follows) };
      return scans.findOneAndUpdate(filter, update, { returnDocument: 'after' });
    },

    /** What follows changes of scans. */
    outbox: outboxSource<ScanRecord>('scans', scans, ['campaign_id'], ({ _id, organization_id, campaign_id }) => ({
      organizationId: organization_id,
      scanId: _id,
      campaignId: campaign_id,
    })),
  };
}
