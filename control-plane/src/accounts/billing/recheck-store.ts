import { insertOnce } from '../../platform/insert-once.ts';
import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { Period } from './usage-by-day.ts';

/** Rechecks are counted for the current month. */
const KEPT_SECONDS = 62 * 24 * 60 * 60;

/** A recheck of a scan. Rechecks are metered separately and free of charge (interface.md 4.2, companion API). */
export type RecheckRecord = { _id: string; organization_id: string; scan_id: string; created_at: Date };

/** The only code that accesses the rechecks collection. */
export type RecheckStore = ReturnType<typeof recheckStore>;

export function recheckStore(store: Store) {
  const rechecks: Collection<RecheckRecord> = store.collection<RecheckRecord>('rechecks');

  return {
    async createIndexes(): Promise<void> {
      await rechecks.createIndexes([
        { key: { organization_id: 1, created_at: -1 } },
        { key: { created_at: 1 }, expireAfterSeconds: KEPT_SECONDS },
      ]);
    },

    /** Counts an organization's rechecks in a period. */
    async count(organizationId: string, { from, to }: Period): Promise<number> {
      return rechecks.countDocuments({ organization_id: organizationId, created_at: { $gte: from, $lt: to } });
    },

    /** Adds a recheck; its id makes repeated calls harmless. */
    async add({ id, at }: OutboxEntry<'recheck'>, { organizationId, scanId }: Origin): Promise<void> {
      await insertOnce(rechecks, { _id: id, organization_id: organizationId, scan_id: scanId, created_at: at });
    },
  };
}
