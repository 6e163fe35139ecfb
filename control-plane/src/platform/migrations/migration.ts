import type { Collection, Document, Filter, Store } from '../store.ts';

/**
 * One step that takes a store from the version before to `version`. It may be interrupted anywhere and is then run again from the
 * start: what it has done already must mean nothing to it.
 */
export type Migration = {
  version: number;
  /** What it does, for the log. */
  name: string;
  /** `checkpoint` is called after each batch: it keeps the claim, and throws where another process has taken the migration over. */
  run(store: Store, checkpoint: Checkpoint): Promise<void>;
};

/** Told how many documents a batch had. */
export type Checkpoint = (documents: number) => Promise<void>;

const BATCH = 500;

/** Calls `change` for the documents that match, by id, in batches; documents that no longer match are not read again. */
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
