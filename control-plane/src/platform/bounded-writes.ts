import { insertOnce } from './insert-once.ts';
import { serializeByKey } from './serialize-by-key.ts';
import type { Collection, Filter, Store } from './store.ts';

/** A record that an owner keeps, with what its bound is counted by. */
type Counted = { id: string };

type Claim<K> = { token: string; until: Date; record: K };

/**
 * What an owner is about to store. One document, so that counting and claiming are one conditional write; `version`
 * counts its changes.
 */
type Claims<K> = { _id: string; version: number; claims: Claim<K>[] };

/** How long a write may take. A claim that is older is that of a process that ended. */
const WRITE_WITHIN_MS = 60_000;

/**
 * Keeps what owners store in a collection within a bound, however many requests and processes write at once: a record
 * is claimed before it is stored, and a claim counts like a stored record. Nothing has to be counted again after a
 * crash: a claim ends by itself.
 */
export function boundedWrites<K extends Counted>(store: Store, of: string) {
  const owners: Collection<Claims<K>> = store.collection<Claims<K>>('write_claims');
  const oneByOne = serializeByKey();

  const claim = async (_id: string, { id, kept, take }: Wanted<K>): Promise<Claim<K>> => {
    for (;;) {
      // Before the stored records: a claim that is released in between is counted once, as a claim.
      const owned = await owners.findOne({ _id });
      if (!owned) {
        await insertOnce(owners, { _id, version: 0, claims: [] });
        continue;
      }
      const claims = owned.claims.filter(({ until }) => until.getTime() > Date.now());
      const claimed = new Set([id, ...claims.map(({ record }) => record.id)]);
      const stored = (await kept([...claimed])).filter((record) => !claimed.has(record.id));
      const record = take([...stored, ...claims.map((one) => one.record)]);
      const mine = { token: crypto.randomUUID(), until: new Date(Date.now() + WRITE_WITHIN_MS), record };
      const change = { $set: { claims: [...claims, mine] }, $inc: { version: 1 } };
      if ((await owners.updateOne({ _id, version: owned.version }, change as object)).matchedCount === 1) return mine;
    }
  };

  /** Claims room for a record, then writes it. Throws what `take` throws; then nothing is written. */
  return async function writeWithin<T>(owner: string, wanted: Wanted<K>, write: (record: K) => Promise<T>): Promise<T> {
    const _id = `${of}/${owner}`;
    const { token, record } = await oneByOne(_id, () => claim(_id, wanted));
    try {
      return await write(record);
    } finally {
      await owners.updateOne({ _id }, { $pull: { claims: { token } }, $inc: { version: 1 } } as object);
    }
  };
}

/**
 * A record to be stored, or to be stored anew. `kept` reads all records of its owner, or sums up those that are not
 * among `claimed`. `take` gets the others, those that are about to be stored too, and returns what is claimed or throws
 * if the owner has no room.
 */
export type Wanted<K> = { id: string; kept: (claimed: string[]) => Promise<K[]>; take: (others: K[]) => K };

/**
 * Keeps the number of an organization's records, of those that match `where`, within a bound: each counts one. `refuse`
 * returns the error for an organization that has `most`.
 */
export function boundedNumber<R extends { _id: string }>(
  store: Store,
  of: string,
  {
    records,
    where = {},
    most,
    refuse,
  }: { records: Collection<R>; where?: Filter<R>; most: number; refuse: () => Error },
) {
  const writeWithin = boundedWrites<Counted>(store, of);
  const kept = async (organization_id: string): Promise<Counted[]> => {
    const found = records.find({ ...where, organization_id } as object).project<{ _id: string }>({ _id: 1 });
    return (await found.toArray()).map(({ _id }) => ({ id: _id }));
  };

  /** Writes the record with this id, if there is room for it. */
  return <T>(organizationId: string, id: string, write: () => Promise<T>): Promise<T> => {
    const take = (others: Counted[]): Counted => {
      if (others.length >= most) throw refuse();
      return { id };
    };
    return writeWithin(organizationId, { id, kept: () => kept(organizationId), take }, write);
  };
}
