import {
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoServerError,
  type WriteError,
} from 'mongodb';
import { onlyOptions } from '../refusals.ts';
import type { Database } from '../storage/database.ts';
import type { Records } from '../storage/records.ts';
import type { BulkCounts } from '../store-shape.ts';
import { changeDocuments, deleteDocuments, insertDocument, updateResult } from './write.ts';

type Counts = { -readonly [Name in keyof BulkCounts]: BulkCounts[Name] };
type Failure = { index: number; code: number; errmsg: string };

/**
 * Runs writes one after another in one transaction. A refused write changes nothing and is reported at the end in a
 * `MongoBulkWriteError` with the results of the others; if `ordered`, no write after it is tried.
 */
export function bulkWrite(
  db: Database,
  records: Records,
  writes: readonly AnyBulkWriteOperation[],
  ordered: boolean,
): BulkCounts {
  if (writes.length === 0) throw new MongoInvalidArgumentError('Invalid BulkOperation, Batch cannot be empty');
  const counts = emptyCounts();
  const failures: Failure[] = [];
  db.transaction(() => {
    for (const [index, write] of writes.entries()) {
      const run = () => runWrite(records, write, index, counts);
      // A write of one document that is refused has changed nothing; SQLite would copy every page that the write
      // changes.
      const failure = attempt('updateMany' in write ? () => db.transaction(run) : run);
      if (failure) failures.push({ index, ...failure });
      if (failure && ordered) break;
    }
  });
  if (failures.length > 0) throw bulkError(failures, counts);
  return counts;
}

function emptyCounts(): Counts {
  const none = { insertedCount: 0, matchedCount: 0, modifiedCount: 0, deletedCount: 0, upsertedCount: 0 };
  return { ...none, insertedIds: {}, upsertedIds: {} };
}

function attempt(run: () => void): { code: number; errmsg: string } | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    return { code: Number(error.code), errmsg: error.message };
  }
}

function bulkError(failures: Failure[], counts: BulkCounts): MongoBulkWriteError {
  const { code, errmsg } = failures[0]!;
  const error = { message: errmsg, code, writeErrors: failures as WriteError[] };
  return new MongoBulkWriteError(error, counts as BulkWriteResult);
}

function runWrite(records: Records, write: AnyBulkWriteOperation, index: number, counts: Counts): void {
  if ('insertOne' in write) {
    counts.insertedIds[index] = insertDocument(records, write.insertOne.document);
    counts.insertedCount += 1;
  } else if ('updateOne' in write || 'updateMany' in write || 'replaceOne' in write) {
    runChange(records, write, index, counts);
  } else if ('deleteOne' in write || 'deleteMany' in write) {
    const of = 'deleteOne' in write ? write.deleteOne : write.deleteMany;
    onlyOptions(of, 'filter');
    counts.deletedCount += deleteDocuments(records, { filter: of.filter, limit: 'deleteMany' in write ? 0 : 1 }).length;
  } else {
    throw new MongoInvalidArgumentError(`an unknown kind of write: ${Object.keys(write).join(', ')}`);
  }
}

type ChangeWrite = Extract<
  AnyBulkWriteOperation,
  { updateOne: unknown } | { updateMany: unknown } | { replaceOne: unknown }
>;

function runChange(records: Records, write: ChangeWrite, index: number, counts: Counts): void {
  const [kind, of] = Object.entries(write)[0]!;
  onlyOptions(of, 'filter', 'update', 'replacement', 'upsert', 'sort');
  const result = updateResult(changeDocuments(records, { ...of, limit: kind === 'updateMany' ? 0 : 1 }));
  counts.matchedCount += result.matchedCount;
  counts.modifiedCount += result.modifiedCount;
  if (result.upsertedCount === 0) return;
  counts.upsertedCount += 1;
  counts.upsertedIds[index] = result.upsertedId;
}
