import type { Collection, Document, Filter, Store } from '../store.ts';

/**
 * A step that updates a store from the previous version to `version`. It must be idempotent: an interrupted migration
 * is run again from the start.
 */
export type Migration = {
  version: number;
  /** A name for the log. */
  name: string;
  /**
   * Must call `checkpoint` after each batch: it renews the claim, and throws if another process has taken over the
   * migration.
   */
  run(store: Store, checkpoint: Checkpoint): Promise<void>;
};

/** To be called with the number of documents in a batch. */
export type Checkpoint = (documents: number) => Promise<void>;

const BATCH = 500;

/** Calls `change` with batches of the matching documents, ordered by id. */
export async function inBatches<T extends Document & { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  checkpoint: Checkpoint,
  change: (documents: T[]) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; ) {
    const next = { $and: [filter, { _id: { $gt: after } }] } as Filter<T>;
    const documents = (await collection.find(next).sort({ _id: 1 }).limit(BATCH).toArray()) as T[];
    if (documents.length === 0) return;
    await change(documents);
    await checkpoint(documents.length);
    after = documents.at(-1)!._id;
  }
}
