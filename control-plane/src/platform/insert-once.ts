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
