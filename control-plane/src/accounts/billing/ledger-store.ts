import { gatherByKey } from '../../platform/gather-by-key.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import { type Collection, isDuplicateKey, type Store } from '../../platform/store.ts';
import {
  entryAfter,
  LEDGER_TYPES,
  type LedgerEntry,
  type LedgerPosting,
  type LedgerType,
  postingIdOf,
  SCAN_POSTINGS,
} from './ledger-entry.ts';

const ALL_BUT_CHARGES = LEDGER_TYPES.filter((type) => type !== 'usage_charge');

/** Postings that are booked in one write, a few milliseconds in the embedded store. */
const BOOKED_AT_ONCE = 32;

/** Selects ledger entries by type and time; null: all. */
export type LedgerFilter = { types: LedgerType[] | null; created: { $gte?: Date; $lt?: Date } | null };

/** The entries after `after` (null: from the first), up to and including `upTo` (null: none). */
type Span = { after: LedgerEntry | null; upTo: LedgerEntry | null };

/** The only code that accesses the ledger, which is append-only. */
export type LedgerStore = ReturnType<typeof ledgerStore>;

export function ledgerStore(store: Store) {
  const entries: Collection<LedgerEntry> = store.collection<LedgerEntry>('ledger_entries');
  const newest = (organization_id: string, before: Date | null): Promise<LedgerEntry | null> =>
    entries
      .find(before ? { organization_id, created_at: { $lt: before } } : { organization_id })
      .sort(before ? { created_at: -1, sequence: -1 } : { sequence: -1 })
      .limit(1)
      .next();

  const bookOne = async (posting: LedgerPosting): Promise<LedgerEntry> => {
    const { _id, organization_id } = posting;
    for (;;) {
      const known = await entries.findOne({ _id, organization_id });
      if (known) return known;
      const entry = entryAfter(await newest(organization_id, null), posting);
      if (await insertOnce(entries, entry)) return entry;
    }
  };

  /**
   * Books postings in one write that ends before the first entry that cannot be written: what is booked has no gaps.
   */
  const bookTogether = async (organization_id: string, postings: LedgerPosting[]): Promise<LedgerEntry[]> => {
    let last = await newest(organization_id, null);
    const following: LedgerEntry[] = [];
    for (const posting of postings) {
      last = entryAfter(last, posting);
      following.push(last);
    }
    await entries.insertMany(following, { ordered: true });
    return following;
  };

  /**
   * Books a posting as the organization's next entry, once. Of concurrent writers the unique sequence lets one succeed;
   * the others retry with the next number. Postings of an organization that arrive together share a write, unless one
   * of them is known.
   */
  const gathered = gatherByKey<LedgerPosting, LedgerEntry>(async (organization_id, postings) => {
    try {
      return await bookTogether(organization_id, postings);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const booked: LedgerEntry[] = [];
    for (const posting of postings) booked.push(await bookOne(posting));
    return booked;
  }, BOOKED_AT_ONCE);
  const book = (posting: LedgerPosting): Promise<LedgerEntry> => gathered(posting.organization_id, posting);

  /**
   * Sequence of the newest entry up to which `span` has at most `count` entries of `types`: a binary search over the
   * running counts.
   */
  const entryAtCount = async (organization_id: string, types: LedgerType[] | null, span: Span, count: number) => {
    const { after, upTo } = span;
    if (types === null) return (after?.sequence ?? 0) + count;
    const goal = countUpTo(after, types) + count;
    let [low, high] = [after?.sequence ?? 0, upTo?.sequence ?? 0];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const entry = await entries.findOne({ organization_id, sequence: middle });
      if (countUpTo(entry, types) <= goal) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /**
   * The newest `limit` entries with a sequence in (`after`, `upTo`]. One query per type: a scan for a rare type would
   * read many others.
   */
  const page = async (
    organization_id: string,
    types: LedgerType[] | null,
    after: number,
    upTo: number,
    limit: number,
  ) => {
    const within = { organization_id, sequence: { $gt: after, $lte: upTo } };
    const filters = types ? types.map((type) => ({ ...within, type })) : [within];
    const found = await Promise.all(
      filters.map((filter) => entries.find(filter).sort({ sequence: -1 }).limit(limit).toArray()),
    );
    return found
      .flat()
      .sort((one, other) => other.sequence - one.sequence)
      .slice(0, limit);
  };

  return {
    async createIndexes(): Promise<void> {
      await entries.createIndexes([
        { key: { organization_id: 1, sequence: -1 }, unique: true },
        { key: { organization_id: 1, type: 1, sequence: -1 } },
        { key: { organization_id: 1, created_at: -1, sequence: -1 } },
      ]);
    },

    book,

    /** The next `limit` entries after sequence `after`, without charges, oldest first. */
    async creditsAfter(organizationId: string, after: number, limit: number): Promise<LedgerEntry[]> {
      return entries
        .find({ organization_id: organizationId, type: { $in: ALL_BUT_CHARGES }, sequence: { $gt: after } })
        .sort({ sequence: 1 })
        .limit(limit)
        .toArray();
    },

    /** An entry of the organization, or null. */
    find: (organization_id: string, _id: string): Promise<LedgerEntry | null> =>
      entries.findOne({ _id, organization_id }),

    /** The charge and the refund of a scan, as far as they are booked, newest first. */
    async ofScan(organization_id: string, scanId: string): Promise<LedgerEntry[]> {
      const ids = SCAN_POSTINGS.map((kind) => postingIdOf(kind, scanId));
      const found = await entries.find({ _id: { $in: ids }, organization_id }).toArray();
      return found.sort((one, other) => other.sequence - one.sequence);
    },

    /** The newest entry that was booked before `before`, or null. */
    newestBefore: (organizationId: string, before: Date) => newest(organizationId, before),

    /**
     * A page of an organization's entries, newest first, and the number of matches. The cost depends neither on `skip`
     * nor on the size of the ledger.
     */
    async list(organizationId: string, { types, created }: LedgerFilter, skip: number, limit: number) {
      const [after, upTo] = await Promise.all([
        created?.$gte ? newest(organizationId, created.$gte) : null,
        newest(organizationId, created?.$lt ?? null),
      ]);
      const named = types && [...new Set(types)];
      const total = countUpTo(upTo, named) - countUpTo(after, named);
      if (skip >= total) return { rows: [], total };
      const last =
        skip === 0 ? upTo!.sequence : await entryAtCount(organizationId, named, { after, upTo }, total - skip);
      return { rows: await page(organizationId, named, after?.sequence ?? 0, last, limit), total };
    },
  };
}

/** Number of entries of `types` up to and including `entry`. */
function countUpTo(entry: LedgerEntry | null, types: LedgerType[] | null): number {
  if (!entry) return 0;
  return types ? types.reduce((sum, type) => sum + (entry.counts[type] ?? 0), 0) : entry.sequence;
}
