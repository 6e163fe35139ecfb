import type { Collection, Document } from '../store.ts';
import type { Checkpoint, Migration } from './migration.ts';

type Entry = { _id: string; organization_id: string; type: string; amount_micros: number; created_at: Date } & Document;
/** The running values of an organization's ledger up to an entry. */
type Running = { sequence: number; balance_after_micros: number; counts: Record<string, number>; created_at: Date };

const BATCH = 500;
const START: Running = { sequence: 0, balance_after_micros: 0, counts: {}, created_at: new Date(0) };

/**
 * Gives ledger entries, ordered by time, their sequence number, the balance after them and the running counts of their
 * types.
 */
export const ledgerInSequence: Migration = {
  version: 2,
  name: 'ledger in sequence',
  async run(store, checkpoint) {
    const entries = store.collection<Entry>('ledger_entries');
    const organizations = (await entries.distinct('organization_id', { sequence: { $exists: false } })) as string[];
    for (const organizationId of organizations) await numberEntries(entries, organizationId, checkpoint);
  },
};

async function numberEntries(
  entries: Collection<Entry>,
  organization_id: string,
  checkpoint: Checkpoint,
): Promise<void> {
  const numbered = { organization_id, sequence: { $exists: true } };
  const last = await entries.find(numbered).sort({ sequence: -1 }).limit(1).next();
  let running = (last as Running | null) ?? START;
  for (;;) {
    const next = { organization_id, sequence: { $exists: false }, created_at: { $gte: running.created_at } };
    const batch = await entries.find(next).sort({ created_at: 1, _id: 1 }).limit(BATCH).toArray();
    if (batch.length === 0) return;
    const writes = batch.map((entry) => {
      running = after(running, entry);
      const { created_at, ...fields } = running;
      return { updateOne: { filter: { _id: entry._id }, update: { $set: fields } } };
    });
    await entries.bulkWrite(writes);
    await checkpoint(batch.length);
  }
}

function after(running: Running, { type, amount_micros, created_at }: Entry): Running {
  return {
    sequence: running.sequence + 1,
    balance_after_micros: running.balance_after_micros + amount_micros,
    counts: { ...running.counts, [type]: (running.counts[type] ?? 0) + 1 },
    created_at,
  };
}
