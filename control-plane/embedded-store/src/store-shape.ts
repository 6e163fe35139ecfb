import type {
  AnyBulkWriteOperation,
  BulkWriteOptions,
  BulkWriteResult,
  CreateIndexesOptions,
  Document,
  Collection as DriverCollection,
  Filter,
  FindOptions,
  IndexDescription,
  IndexSpecification,
  Sort,
  SortDirection,
  WithId,
} from 'mongodb';

/** A cursor over results. It reads nothing until the first result is requested. */
export type Cursor<T> = AsyncIterable<T> & {
  next(): Promise<T | null>;
  hasNext(): Promise<boolean>;
  toArray(): Promise<T[]>;
  close(): Promise<void>;
};

export type FindCursor<T> = Cursor<T> & {
  sort(sort: Sort | string, direction?: SortDirection): FindCursor<T>;
  skip(count: number): FindCursor<T>;
  limit(count: number): FindCursor<T>;
  project<P extends Document = Document>(projection: Document): FindCursor<P>;
  /**
   * The plan of the search and the number of documents it examines, in the form of MongoDB's
   * `explain('executionStats')`.
   */
  explain(): Promise<Document>;
};

/**
 * An option of an index: `countedPrefix: n` maintains the number of documents for each value of its first `n` fields
 * with each write. `countDocuments` then reads that number. MongoDB has no such option; its server counts index
 * entries. `partsOf: path` adds an inverted index of the texts in this field of the index, by which a search for a part
 * of a text reads the documents that may contain it. A server of MongoDB tests the pattern on the entries of the index
 * instead.
 */
export type EmbeddedIndexOptions = { countedPrefix?: number; partsOf?: string };

/**
 * The part of the driver's `Collection` that this engine implements.
 * A field that is `undefined` is not stored; `undefined` inside a filter is refused, because it would widen the filter.
 */
export type Collection<T extends Document = Document> = Pick<
  DriverCollection<T>,
  | 'collectionName'
  | 'insertOne'
  | 'insertMany'
  | 'findOne'
  | 'countDocuments'
  | 'estimatedDocumentCount'
  | 'distinct'
  | 'updateOne'
  | 'updateMany'
  | 'replaceOne'
  | 'deleteOne'
  | 'deleteMany'
  | 'findOneAndUpdate'
  | 'findOneAndReplace'
  | 'findOneAndDelete'
  | 'indexes'
  | 'dropIndex'
  | 'drop'
> & {
  createIndex(keys: IndexSpecification, options?: CreateIndexesOptions & EmbeddedIndexOptions): Promise<string>;
  createIndexes(indexes: (IndexDescription & EmbeddedIndexOptions)[]): Promise<string[]>;
  find(filter?: Filter<T>, options?: FindOptions): FindCursor<WithId<T>>;
  bulkWrite(writes: readonly AnyBulkWriteOperation<T>[], options?: BulkWriteOptions): Promise<BulkCounts>;
};

/** The counts of the driver's result. */
export type BulkCounts = Pick<
  BulkWriteResult,
  'insertedCount' | 'matchedCount' | 'modifiedCount' | 'deletedCount' | 'upsertedCount' | 'insertedIds' | 'upsertedIds'
>;

export type Store = {
  collection<T extends Document = Document>(name: string): Collection<T>;
  /** Resolves if the engine can serve a read, else rejects. For the readiness probe. */
  ping(): Promise<void>;
  /**
   * Removes some of the documents that TTL indexes say have expired by `now`; resolves to their number, 0 when none is
   * left.
   */
  sweepExpired(now: Date): Promise<number>;
  /**
   * Writes all documents, as they are at one moment, to a new file that the engine opens, while other operations go on.
   * Only the embedded engine has this: MongoDB has tools for it.
   */
  backUp?(file: string): Promise<void>;
  close(): Promise<void>;
};
