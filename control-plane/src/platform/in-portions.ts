import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { Collection, Document, Filter, UpdateFilter } from './store.ts';

/**
 * Reads or writes items some at a time, with pauses: a transaction, and the plan of a search, block the event loop
 * while the embedded store is in this process. Returns what `work` returned.
 */
export async function inPortions<T, R>(items: T[], most: number, work: (portion: T[]) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += most) {
    await pause();
    results.push(await work(items.slice(from, from + most)));
  }
  return results;
}

/** Ids that one search names: to plan a search for thousands takes tens of milliseconds. */
export const FOUND_AT_ONCE = 500;

/** Documents that are changed in one write: about ten milliseconds of the embedded store. */
const WRITTEN_AT_ONCE = 25;
/** Ids that MongoDB sends at once: it ends a cursor that is not read for ten minutes. */
const READ_AT_ONCE = 1_000;

/**
 * Changes all documents that match, some in each write: there may be many thousands. Returns their number. If it is
 * interrupted, some are changed.
 */
export const updateInPortions = <T extends Document>(
  collection: Collection<T>,
  where: Filter<T>,
  update: UpdateFilter<T>,
): Promise<number> =>
  writeInPortions(collection, where, async (portion) => (await collection.updateMany(portion, update)).modifiedCount);

/** Deletes them in the same way. */
export const deleteInPortions = <T extends Document>(collection: Collection<T>, where: Filter<T>): Promise<number> =>
  writeInPortions(collection, where, async (portion) => (await collection.deleteMany(portion)).deletedCount);

async function writeInPortions<T extends Document>(
  collection: Collection<T>,
  where: Filter<T>,
  write: (portion: Filter<T>) => Promise<number>,
): Promise<number> {
  let written = 0;
  let ids: T['_id'][] = [];
  const writeThese = async () => {
    await pause();
    // Other work may have changed a document since it was read.
    written += await write({ ...where, _id: { $in: ids } });
    ids = [];
  };
  // Each document is read once, also if other work makes it match again: two opposite changes at the same time both
  // end.
  for await (const { _id } of collection
    .find(where, { batchSize: READ_AT_ONCE })
    .project<{ _id: T['_id'] }>({ _id: 1 })) {
    ids.push(_id);
    if (ids.length === WRITTEN_AT_ONCE) await writeThese();
  }
  if (ids.length > 0) await writeThese();
  return written;
}
