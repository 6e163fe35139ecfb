import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { RunRecord } from './run.ts';

/** The only code that accesses runs. Queries filter by organization first. */
export type RunStore = ReturnType<typeof runStore>;

const NEWEST = { created_at: -1, _id: -1 } as const;

export function runStore(store: Store) {
  const runs: Collection<RunRecord> = store.collection<RunRecord>('runs');
  return {
    async createIndexes(): Promise<void> {
      await runs.createIndexes([{ key: { organization_id: 1, campaign_id: 1, ...NEWEST }, countedPrefix: 2 }]);
    },

    /** Stores a run, unless one with this id exists. */
    async insert(run: RunRecord): Promise<void> {
      await insertOnce(runs, run);
    },

    /** A run of this organization; null: missing, or another organization's. */
    async find(organization_id: string, _id: string): Promise<RunRecord | null> {
      return runs.findOne({ _id, organization_id });
    },

    /** A page of a campaign's runs, newest first, and their number. */
    async list(organization_id: string, campaign_id: string, { skip, limit }: { skip: number; limit: number }) {
      const where = { organization_id, campaign_id };
      const rows = await runs.find(where).sort(NEWEST).skip(skip).limit(limit).toArray();
      return { rows, total: await runs.countDocuments(where) };
    },

    /** Marks a run as cancelled; repeated calls keep the first time. */
    async cancel(organization_id: string, _id: string, now: Date): Promise<void> {
      await runs.updateOne({ _id, organization_id, cancelled_at: null }, { $set: { cancelled_at: now } });
    },
  };
}
