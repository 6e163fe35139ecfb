import { MongoServerError } from 'mongodb';
import type { Store } from './store-shape.ts';

export type { Document, Filter, OptionalUnlessRequiredId, UpdateFilter, WithId } from 'mongodb';
export type { BulkCounts, Collection, Cursor, FindCursor, Store } from './store-shape.ts';

/** Where the records are: a MongoDB deployment, or one file of this machine (`:memory:` for none). */
export type StoreLocation = { mongodbUrl?: string | undefined; path?: string | undefined };

/** Opens MongoDB where a URL is given, else the embedded engine on `path`. Rejects when neither can be had. */
export async function openStore({ mongodbUrl, path }: StoreLocation): Promise<Store> {
  if (mongodbUrl) return (await import('./mongo.ts')).openMongo(mongodbUrl);
  if (path) return (await import('./embedded/open-embedded.ts')).openEmbedded(path);
  throw new Error('a store needs a MongoDB URL or the path of a file');
}

/** Whether a write was refused by a unique index: by `index` when it is named, by any one else. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  if (!(error instanceof MongoServerError) || error.code !== 11000) return false;
  return index === undefined || / index: (.+?) dup key:/.exec(error.message)?.[1] === index;
}
