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

/** What can be asked of a cursor. Nothing is read before the first result is asked for. */
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
  /** How the search goes, in the form of MongoDB's `explain('executionStats')`: which index, how many documents are examined. */
  explain(): Promise<Document>;
};

/**
 * Of an index: `countedPrefix` keeps, with each write, how many documents there are for each value of its first so many fields.
 * `countDocuments` then reads that number. MongoDB has no such option: there the server counts along the index.
 */
export type CountingOptions = { countedPrefix?: number };

/**
 * A collection: the part of the driver's own `Collection` that this engine has too.
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
  createIndex(keys: IndexSpecification, options?: CreateIndexesOptions & CountingOptions): Promise<string>;
  createIndexes(indexes: (IndexDescription & CountingOptions)[]): Promise<string[]>;
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
  /** Answers when the engine can take a read; rejects when it cannot. For the readiness probe. */
  ping(): Promise<void>;
  /** Removes a part of what TTL indexes say has expired by `now`; answers how many documents it was, 0 when nothing is left. */
  sweepExpired(now: Date): Promise<number>;
  close(): Promise<void>;
};
