import type { Collection, Document, Store } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Entry = {
  _id: string;
  organization_id: string;
  sequence: number;
  balance_after_micros: number;
  counts: Record<string, number>;
  created_at: Date;
} & Document;
type Charge = { kind: string; id: string; at: Date; amount_micros: number };
type Scan = { _id: string; organization_id: string; outbox: Charge[] } & Document;
type Allowance = { _id: string } & Document;

/** Gives organizations an allowance: their usage of this month, and the balance of their ledger. */
export const allowances: Migration = {
  version: 8,
  name: 'allowances',
  async run(store, checkpoint) {
    const now = new Date();
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    const made = store.collection<Allowance>('allowances');
    const organizations = store.collection<{ _id: string } & Document>('organizations');
    await inBatches(organizations, {}, checkpoint, async (documents) => {
      for (const { _id } of documents) {
        const allowance = await allowanceOf(store, _id, month);
        await made.updateOne({ _id }, { $set: allowance }, { upsert: true });
      }
    });
  },
};

/** The allowance from the booked ledger entries and the charges that are not booked yet. */
async function allowanceOf(store: Store, organization_id: string, month: Date) {
  const entries = store.collection<Entry>('ledger_entries');
  const [last, before] = await Promise.all([
    entries.find({ organization_id }).sort({ sequence: -1 }).limit(1).next(),
    entries
      .find({ organization_id, created_at: { $lt: month } })
      .sort({ created_at: -1, sequence: -1 })
      .limit(1)
      .next(),
  ]);
  const unbooked = await unbookedCharges(store, entries, organization_id);
  const checks = checksIn(last) - checksIn(before) + unbooked.filter(({ at }) => at >= month).length;
  const charged = unbooked.reduce((sum, { amount_micros }) => sum + amount_micros, 0);
  return {
    months: { [month.toISOString().slice(0, 7)]: checks },
    available_micros: (last?.balance_after_micros ?? 0) - charged,
    ledger_through: last?.sequence ?? 0,
    reservations: {},
  };
}

const checksIn = (entry: Entry | null): number => (entry?.counts.usage_charge ?? 0) - (entry?.counts.refund ?? 0);

async function unbookedCharges(store: Store, entries: Collection<Entry>, organization_id: string): Promise<Charge[]> {
  const waiting = store.collection<Scan>('scans').find({ outbox_at: { $exists: true }, organization_id });
  const charges: Charge[] = [];
  for await (const { outbox } of waiting)
    for (const entry of outbox)
      if (entry.kind === 'charge' && !(await entries.findOne({ _id: entry.id, organization_id }))) charges.push(entry);
  return charges;
}
