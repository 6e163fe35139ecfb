import { insertOnce } from '../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../platform/store.ts';
import type { LedgerEntry, LedgerRecord, LedgerType } from './ledger-entry.ts';

/** Which entries a client asks for: of these types, within these moments; null: all. */
export type LedgerWish = { types: LedgerType[] | null; created: { $gte?: Date; $lt?: Date } | null };

/** The only code that touches the ledger. Entries are added and never changed. */
export type LedgerStore = ReturnType<typeof ledgerStore>;

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

export function ledgerStore(store: Store) {
  const entries: Collection<LedgerRecord> = store.collection<LedgerRecord>('ledger_entries');

  /** The sum of all the organization's entries up to and including `last`. */
  const balanceAt = async ({ organization_id, created_at, _id }: LedgerRecord): Promise<number> => {
    const upTo = { $or: [{ created_at: { $lt: created_at } }, { created_at, _id: { $lte: _id } }] };
    const [sum] = await entries
      .aggregate<{ micros: number }>([
        { $match: { organization_id, ...upTo } },
        { $group: { _id: null, micros: { $sum: '$amount_micros' } } },
      ])
      .toArray();
    return sum?.micros ?? 0;
  };

  const withBalances = async (organizationId: string, rows: LedgerRecord[]): Promise<LedgerEntry[]> => {
    const oldest = rows.at(-1);
    if (!oldest) return [];
    let balance = (await balanceAt(oldest)) - oldest.amount_micros;
    const newest = rows[0]!;
    const between = await entries
      .find({ organization_id: organizationId, created_at: { $gte: oldest.created_at, $lte: newest.created_at } })
      .sort({ created_at: 1, _id: 1 })
      .toArray();
    const balances = new Map<string, number>();
    for (const entry of between.slice(between.findIndex(({ _id }) => _id === oldest._id))) {
      balance += entry.amount_micros;
      balances.set(entry._id, balance);
    }
    return rows.map((row) => ({ ...row, balance_after_micros: balances.get(row._id) ?? 0 }));
  };

  return {
    async createIndexes(): Promise<void> {
      await entries.createIndex({ organization_id: 1, created_at: -1, _id: -1 });
    },

    /** Adds an entry; one with its id that is there already stays as it is. */
    async add(record: LedgerRecord): Promise<void> {
      await insertOnce(entries, record);
    },

    /** Entries `skip`.. of an organization, newest first, each with the balance after it, and how many match in all. */
    async list(organizationId: string, wish: LedgerWish, skip: number, limit: number) {
      const filter: Filter<LedgerRecord> = { organization_id: organizationId };
      if (wish.types) filter.type = { $in: wish.types };
      if (wish.created) filter.created_at = wish.created;
      const [rows, total] = await Promise.all([
        entries.find(filter).sort(NEWEST_FIRST).skip(skip).limit(limit).toArray(),
        entries.countDocuments(filter),
      ]);
      return { rows: await withBalances(organizationId, rows), total };
    },
  };
}
