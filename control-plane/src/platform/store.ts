import type { Store } from '@adsweep/embedded-store/store-shape.ts';

// biome-ignore lint/performance/noBarrelFile: the only place that brings the types of both engines into the control plane
export { isDuplicateKey } from '@adsweep/embedded-store/duplicate-key.ts';
export type { BulkCounts, Collection, Cursor, FindCursor, Store } from '@adsweep/embedded-store/store-shape.ts';
export type { Document, Filter, OptionalUnlessRequiredId, UpdateFilter, WithId } from 'mongodb';

/** Where the records are: a MongoDB deployment, or one file of this machine (`:memory:` for none). */
export type StoreLocation = { mongodbUrl?: string | undefined; path?: string | undefined };

/** Opens MongoDB where a URL is given, else the embedded engine on `path`. Rejects when neither can be had. */
export async function openStore({ mongodbUrl, path }: StoreLocation): Promise<Store> {
  if (mongodbUrl) return (await import('./mongo.ts')).openMongo(mongodbUrl);
  if (path) return (await import('@adsweep/embedded-store/open-embedded.ts')).openEmbedded(path);
  throw new Error('a store needs a MongoDB URL or the path of a file');
}
