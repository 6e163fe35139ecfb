import type { Store } from '@adsweep/embedded-store/store-shape.ts';

// biome-ignore lint/performance/noBarrelFile: the only file that imports the types of both engines into the control plane
export { isDuplicateKey } from '@adsweep/embedded-store/duplicate-key.ts';
export type { BulkCounts, Collection, Cursor, FindCursor, Store } from '@adsweep/embedded-store/store-shape.ts';
export type { Document, Filter, OptionalUnlessRequiredId, UpdateFilter, WithId } from 'mongodb';

/** MongoDB's error code for a search that took longer than its `maxTimeMS`. */
const MAX_TIME_EXPIRED = 50;
export const isTimeLimit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === MAX_TIME_EXPIRED;

/**
 * The condition of a text that contains `part`, in any letter case. MongoDB refuses expressions with a null character,
 * not its escape.
 */
export const containing = (part: string) => ({
  $regex: part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00'),
  $options: 'i',
});

/** Where records are stored: a MongoDB deployment, or a file on this machine (`:memory:` for no file). */
export type StoreLocation = { mongodbUrl?: string | undefined; path?: string | undefined };

/**
 * Opens MongoDB if there is a URL, else the embedded engine on `path`. Rejects if it cannot be opened, or both are
 * missing.
 */
export async function openStore({ mongodbUrl, path }: StoreLocation): Promise<Store> {
  if (mongodbUrl) return (await import('./mongo.ts')).openMongo(mongodbUrl);
  if (path) return (await import('@adsweep/embedded-store/open-embedded.ts')).openEmbedded(path);
  throw new Error('a store needs a MongoDB URL or the path of a file');
}
