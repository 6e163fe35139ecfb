import { MongoBulkWriteError } from 'mongodb';
import { type Collection, type Document, isDuplicateKey, type OptionalUnlessRequiredId } from './store.ts';

/** Stores a record; one that a unique index takes for the same stays as it is. Answers whether it was new. */
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

/** Stores records in one write, each as `insertOnce` does. Answers for each, in their order, whether it was new. */
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

/** Which records of a write were there before; null where anything else went wrong as well. */
function duplicatesIn(error: unknown): Set<number> | null {
  if (!(error instanceof MongoBulkWriteError)) return null;
  const failures = [error.writeErrors].flat();
  const areDuplicates = failures.length > 0 && failures.every(({ code }) => code === DUPLICATE_KEY);
  // The driver tells duplicates first, and what the other servers could not confirm beside them.
  const isConfirmed = !error.result.getWriteConcernError?.();
  return areDuplicates && isConfirmed ? new Set(failures.map(({ index }) => index)) : null;
}
