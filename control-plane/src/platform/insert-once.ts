import { MongoBulkWriteError } from 'mongodb';
import { type Collection, type Document, isDuplicateKey, type OptionalUnlessRequiredId } from './store.ts';

/** Inserts a record, unless a unique index has an equal one. Returns whether it was new. */
export async function insertOnce<T extends Document>(
  collection: Pick<Collection<T>, 'insertOne'>,
  record: OptionalUnlessRequiredId<T>,
): Promise<boolean> {
  try {
    await collection.insertOne(record);
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

/** Inserts records in one write, each like `insertOnce`. Returns for each, in order, whether it was new. */
export async function insertAllOnce<T extends Document>(
  collection: Pick<Collection<T>, 'insertOne' | 'insertMany'>,
  records: OptionalUnlessRequiredId<T>[],
): Promise<boolean[]> {
  if (records.length === 1) return [await insertOnce(collection, records[0]!)];
  try {
    await collection.insertMany(records, { ordered: false });
    return records.map(() => true);
  } catch (error) {
    const duplicates = duplicatesIn(error);
    if (!duplicates) throw error;
    return records.map((_, at) => !duplicates.has(at));
  }
}

const DUPLICATE_KEY = 11000;

/** Indexes of the duplicates in a bulk write; null if it also failed for another reason. */
function duplicatesIn(error: unknown): Set<number> | null {
  if (!(error instanceof MongoBulkWriteError)) return null;
  const failures = [error.writeErrors].flat();
  const areDuplicates = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE_KEY);
  // An error about duplicates can hide a write concern error: then the other records are not confirmed.
  const isConfirmed = !error.result.getWriteConcernError?.();
  return areDuplicates && isConfirmed ? new Set(failures.map(({ index }) => index)) : null;
}
