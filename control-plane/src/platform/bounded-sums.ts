import { insertOnce } from './insert-once.ts';
import { serializeByKey } from './serialize-by-key.ts';
import type { Collection, Store } from './store.ts';

/** How much an owner keeps, or by how much a write changes that: a negative part frees some. */
export type Amount = { records: number; bytes: number };

/** The bytes of a record before and after a write; null: it does not exist then. */
type Sizes = { before: number | null; after: number | null };

type Claim = { token: string; until: Date; change: Amount };

/**
 * What an owner keeps (null: it is to be summed up), and the changes that are about to be written; `version` counts the
 * changes of this document.
 */
type Sum = { _id: string; kept: Amount | null; claims: Claim[]; version: number };

/** How long a write may take. A claim that is older is that of a process that ended. */
const WRITE_WITHIN_MS = 60_000;

const NOTHING: Amount = { records: 0, bytes: 0 };
const plus = (one: Amount, other: Amount): Amount => ({
  records: one.records + other.records,
  bytes: one.bytes + other.bytes,
});
const changeOf = ({ before, after }: Sizes): Amount => ({
  records: Number(after !== null) - Number(before !== null),
  bytes: (after ?? 0) - (before ?? 0),
});
/** What a change needs before it is written: what it frees is free only afterwards. */
const taking = ({ records, bytes }: Amount): Amount => ({ records: Math.max(0, records), bytes: Math.max(0, bytes) });

/**
 * Keeps the records and bytes that owners store in a collection within bounds, however many requests and processes
 * write at once, and however much they keep: the sum is stored, and only read again from the records (`sizesOf`: the
 * bytes of each) if a process ended between a write and its count. `refuse` returns the error for an owner whose bound
 * is reached.
 */
export function boundedSums(
  store: Store,
  of: string,
  { most, sizesOf, refuse }: { most: Amount; sizesOf: (owner: string) => AsyncIterable<number>; refuse: () => Error },
) {
  const sums: Collection<Sum> = store.collection<Sum>('stored_sums');
  const oneByOne = serializeByKey();

  /** Reads the sum again from the records; without effect if anything was claimed or counted meanwhile. */
  const sumAgain = async ({ _id, version }: Sum, owner: string): Promise<void> => {
    const kept = { ...NOTHING };
    for await (const bytes of sizesOf(owner)) {
      kept.records += 1;
      kept.bytes += bytes;
    }
    await sums.updateOne({ _id, version }, { $set: { kept, claims: [] }, $inc: { version: 1 } });
  };

  const claim = async (_id: string, owner: string, change: Amount): Promise<string> => {
    for (;;) {
      const sum = await sums.findOne({ _id });
      if (!sum) {
        await insertOnce(sums, { _id, kept: null, claims: [], version: 0 });
        continue;
      }
      const isLost = sum.claims.length > 0 && sum.claims.every(({ until }) => until.getTime() <= Date.now());
      if (!sum.kept || isLost) {
        await sumAgain(sum, owner);
        continue;
      }
      const wanted = taking(change);
      const then = [wanted, ...sum.claims.map((one) => taking(one.change))].reduce(plus, sum.kept);
      const isOver = (part: keyof Amount) => wanted[part] > 0 && then[part] > most[part];
      if (isOver('records') || isOver('bytes')) throw refuse();
      const mine = { token: crypto.randomUUID(), until: new Date(Date.now() + WRITE_WITHIN_MS), change };
      const update = { $set: { claims: [...sum.claims, mine] }, $inc: { version: 1 } };
      if ((await sums.updateOne({ _id, version: sum.version }, update)).matchedCount === 1) return mine.token;
    }
  };

  /**
   * Claims room for a change of what `owner` keeps, then writes it and counts it. `write` resolves to whether it
   * changed anything. Throws what `refuse` returns if there is no room; then nothing is written.
   */
  return async function writeWithin(owner: string, sizes: Sizes, write: () => Promise<boolean>): Promise<void> {
    const change = changeOf(sizes);
    const _id = `${of}/${owner}`;
    const token = await oneByOne(_id, () => claim(_id, owner, change));
    let counted = NOTHING;
    try {
      if (await write()) counted = change;
    } finally {
      const $inc = { 'kept.records': counted.records, 'kept.bytes': counted.bytes, version: 1 };
      // Not if the sum was read again after this claim had expired.
      await sums.updateOne({ _id, 'claims.token': token }, { $pull: { claims: { token } }, $inc } as object);
    }
  };
}
