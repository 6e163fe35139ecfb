import { awaitNextTurn, pause } from '@adsweep/shared/service/time-slice.ts';
import type * as driver from 'mongodb';
import { describe, ID_INDEX, indexSpec } from './indexes/index-spec.ts';
import { CODE, onlyOptions, refusal } from './refusals.ts';
import { EmbeddedCursor, type FindShape } from './search/cursor.ts';
import { explain } from './search/explain.ts';
import { countRows, findRows, search } from './search/find-rows.ts';
import { projectionOf } from './search/projection.ts';
import { timeLimitOf } from './search/time-limit.ts';
import type { Database } from './storage/database.ts';
import type { Records } from './storage/records.ts';
import type { BulkCounts, EmbeddedIndexOptions } from './store-shape.ts';
import type { Fields } from './stored-document.ts';
import { indexedValues, splitPath } from './values/path-values.ts';
import { sortComponents } from './values/sort-order.ts';
import { keyOf } from './values/value-key.ts';
import { bulkWrite } from './writes/bulk-write.ts';
import {
  type Change,
  changeDocuments,
  deleteDocuments,
  insertDocument,
  updateFor,
  updateResult,
  type Written,
} from './writes/write.ts';

/**
 * An update that sets more than this is compiled in one turn of the event loop and written in the next: each takes some
 * milliseconds.
 */
const LARGE_UPDATE_BYTES = 64 * 1024;

type FindAndChangeOptions = driver.FindOneAndUpdateOptions & driver.FindOneAndReplaceOptions;

/**
 * The methods of the driver's `Collection` over one file. Each write is one transaction, which is synced to the disk
 * before its promise settles. Unknown options and operators are refused.
 */
export class EmbeddedCollection {
  readonly collectionName: string;
  #db: Database;

  constructor(db: Database, name: string) {
    this.#db = db;
    this.collectionName = name;
  }

  async insertOne(document: Fields, options?: driver.InsertOneOptions): Promise<driver.InsertOneResult> {
    onlyOptions(options);
    const insertedId = await this.#write((records) => insertDocument(records, document));
    return { acknowledged: true, insertedId: insertedId as driver.ObjectId };
  }

  async insertMany(documents: readonly Fields[], options?: driver.BulkWriteOptions): Promise<driver.InsertManyResult> {
    const writes = documents.map((document) => ({ insertOne: { document } }));
    const { insertedCount, insertedIds } = await this.bulkWrite(writes, options);
    return { acknowledged: true, insertedCount, insertedIds };
  }

  async bulkWrite(
    writes: readonly driver.AnyBulkWriteOperation[],
    options?: driver.BulkWriteOptions,
  ): Promise<BulkCounts> {
    onlyOptions(options, 'ordered');
    return this.#durably(() => bulkWrite(this.#db, this.#records(), writes, options?.ordered !== false));
  }

  find(filter: object = {}, options: driver.FindOptions = {}): EmbeddedCursor<Fields> {
    onlyOptions(options, 'sort', 'skip', 'limit', 'projection', 'batchSize', 'maxTimeMS');
    const shape: FindShape = {
      order: sortComponents(options.sort),
      skip: options.skip ?? 0,
      limit: Math.abs(options.limit ?? 0),
      projection: projectionOf(options.projection),
      timeLimit: timeLimitOf(options.maxTimeMS),
    };
    return new EmbeddedCursor(shape, {
      read: (wanted) => this.#search(filter, wanted),
      explain: (wanted) => explain(this.#records(), filter, wanted),
    });
  }

  #search(filter: object, { projection, ...window }: FindShape): Iterator<Fields | null> {
    const records = this.#existing();
    if (!records) return [].values();
    return search(records, filter, { ...window, shown: projection?.shown ?? null }).map(
      (found) => found && (projection?.(found.fields) ?? found.fields),
    );
  }

  async findOne(filter: object = {}, options: driver.FindOneOptions = {}): Promise<Fields | null> {
    return this.find(filter, { ...options, limit: 1 }).next();
  }

  async countDocuments(filter: object = {}, options: driver.CountDocumentsOptions = {}): Promise<number> {
    onlyOptions(options, 'skip', 'limit', 'maxTimeMS');
    const records = this.#existing();
    if (!records) return 0;
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = options;
    const timeLimit = timeLimitOf(options.maxTimeMS);
    const counting = countRows(records, filter);
    const next = () => timeLimit.within(() => counting.next());
    let step = next();
    for (; !step.done; step = next()) await pause();
    return Math.min(Math.max(step.value - skip, 0), limit);
  }

  async estimatedDocumentCount(options?: driver.EstimatedDocumentCountOptions): Promise<number> {
    onlyOptions(options);
    return this.#existing()?.total ?? 0;
  }

  async distinct(path: string, filter: object = {}, options?: driver.DistinctOptions): Promise<unknown[]> {
    onlyOptions(options);
    const records = this.#existing();
    const segments = splitPath(path);
    const found = new Map<string, unknown>();
    for (const { fields } of records ? findRows(records, filter) : []) {
      for (const value of indexedValues(fields, segments).values) {
        const isNothing = value === undefined || (Array.isArray(value) && value.length === 0);
        if (!isNothing) found.set(keyOf(value).toString('latin1'), value);
      }
    }
    return [...found].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, value]) => value);
  }

  async updateOne(
    filter: object,
    update: unknown,
    options?: driver.UpdateOptions & { sort?: driver.Sort },
  ): Promise<driver.UpdateResult> {
    onlyOptions(options, 'upsert', 'sort');
    return updateResult(await this.#change({ ...options, filter, update, limit: 1 }));
  }

  async updateMany(filter: object, update: unknown, options?: driver.UpdateOptions): Promise<driver.UpdateResult> {
    onlyOptions(options, 'upsert');
    return updateResult(await this.#change({ ...options, filter, update, limit: 0 }));
  }

  async replaceOne(filter: object, replacement: object, options?: driver.ReplaceOptions): Promise<driver.UpdateResult> {
    onlyOptions(options, 'upsert', 'sort');
    return updateResult(await this.#change({ ...options, filter, replacement, limit: 1 }));
  }

  async findOneAndUpdate(filter: object, update: unknown, options?: driver.FindOneAndUpdateOptions): Promise<unknown> {
    return this.#findAndChange({ filter, update, limit: 1 }, options);
  }

  async findOneAndReplace(
    filter: object,
    replacement: object,
    options?: driver.FindOneAndReplaceOptions,
  ): Promise<unknown> {
    return this.#findAndChange({ filter, replacement, limit: 1 }, options);
  }

  async #findAndChange(change: Change, options: FindAndChangeOptions = {}): Promise<unknown> {
    const { returnDocument = 'before', projection, includeResultMetadata, ...others } = options;
    onlyOptions(others, 'upsert', 'sort');
    const project = projectionOf(projection);
    const onlyAfter = returnDocument === 'after';
    const [written] = await this.#change({ ...change, ...others, shown: project?.shown ?? null, onlyAfter });
    const answer = written?.[returnDocument];
    const value = answer && project ? project(answer) : (answer ?? null);
    return includeResultMetadata ? { value, lastErrorObject: lastError(written), ok: 1 } : value;
  }

  async findOneAndDelete(filter: object, options: driver.FindOneAndDeleteOptions = {}): Promise<unknown> {
    onlyOptions(options, 'sort', 'projection', 'includeResultMetadata');
    const project = projectionOf(options.projection);
    const [deleted] = await this.#write((records) =>
      deleteDocuments(records, { filter, sort: options.sort, limit: 1 }),
    );
    const value = deleted && project ? project(deleted) : (deleted ?? null);
    return options.includeResultMetadata ? { value, lastErrorObject: { n: deleted ? 1 : 0 }, ok: 1 } : value;
  }

  async deleteOne(filter: object = {}, options?: driver.DeleteOptions): Promise<driver.DeleteResult> {
    onlyOptions(options);
    return this.#delete(filter, 1);
  }

  async deleteMany(filter: object = {}, options?: driver.DeleteOptions): Promise<driver.DeleteResult> {
    onlyOptions(options);
    return this.#delete(filter, 0);
  }

  async #delete(filter: object, limit: number): Promise<driver.DeleteResult> {
    const deleted = await this.#write((records) => deleteDocuments(records, { filter, limit }));
    return { acknowledged: true, deletedCount: deleted.length };
  }

  async createIndex(
    keys: driver.IndexSpecification,
    options?: driver.CreateIndexesOptions & EmbeddedIndexOptions,
  ): Promise<string> {
    const spec = indexSpec(keys, options);
    await this.#durably(() => this.#db.createIndex(this.#records(), spec));
    return spec.name;
  }

  async createIndexes(indexes: readonly (driver.IndexDescription & EmbeddedIndexOptions)[]): Promise<string[]> {
    const specs = indexes.map(({ key, ...options }) => indexSpec(key as driver.IndexSpecification, options));
    await this.#write((records) => {
      for (const spec of specs) this.#db.createIndex(records, spec);
    });
    return specs.map(({ name }) => name);
  }

  async indexes(): Promise<driver.IndexDescriptionInfo[]> {
    return this.#existing()?.indexes.map(({ spec }) => describe(spec)) ?? [];
  }

  async dropIndex(name: string): Promise<driver.Document> {
    const index = this.#existing()?.indexes.find(({ spec }) => spec.name === name && name !== ID_INDEX);
    if (!index) throw refusal(CODE.indexNotFound, `index not found with name [${name}]`);
    await this.#durably(() => this.#db.dropIndex(this.#records(), index));
    return { ok: 1 };
  }

  async drop(): Promise<boolean> {
    const records = this.#existing();
    if (records) await this.#durably(() => this.#db.drop(records));
    return true;
  }

  async #change(change: Change): Promise<Written[]> {
    const update = updateFor(change);
    if (update.set.length > LARGE_UPDATE_BYTES) await awaitNextTurn();
    return this.#write((records) => changeDocuments(records, change, update));
  }

  async #write<T>(work: (records: Records) => T): Promise<T> {
    return this.#durably(() => {
      const records = this.#records();
      return this.#db.transaction(() => work(records));
    });
  }

  /** A refused write waits as well: the data it was refused for is then durable. */
  async #durably<T>(work: () => T): Promise<T> {
    try {
      return work();
    } finally {
      await this.#db.synced();
    }
  }

  #records(): Records {
    return this.#db.collection(this.collectionName);
  }

  #existing(): Records | undefined {
    return this.#db.existing(this.collectionName);
  }
}

function lastError(written: Written | undefined): driver.Document {
  if (!written) return { n: 0, updatedExisting: false };
  if (written.before) return { n: 1, updatedExisting: true };
  return { n: 1, updatedExisting: false, upserted: written.after?._id };
}
