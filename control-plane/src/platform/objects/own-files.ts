import { text } from 'node:stream/consumers';
import { MINUTE_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { insertOnce } from '../insert-once.ts';
import type { Store } from '../store.ts';
import type { ObjectStore } from './object-store.ts';

/** The object that names the records which the objects beside it belong to. */
const OWNER = 'owner';
/** How far the clocks of this process and of the objects may differ, in ms. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

/**
 * A store as the owner of files, in its only document of this collection. `since`: when it had no records yet; absent:
 * an earlier version began it.
 */
type Owner = { _id: 'store'; id: string; since?: Date };

const ownerIn = (store: Store) => store.collection<Owner>('file_owner');

/**
 * To be called before a new store gets its first record: files that are older are not its own. Repeated calls change
 * nothing.
 */
export async function ownFilesSince(store: Store, since: Date): Promise<void> {
  await insertOnce(ownerIn(store), { _id: 'store', id: newId(), since });
}

/**
 * Whether the objects belong to the records in this store. Only then is an object that no record names a leftover: with
 * the records of another deployment, or with new ones because a setting was forgotten, none is named. Objects without
 * an owner are taken over, unless some are older than the store.
 */
export async function areOwnFiles(store: Store, objects: Pick<ObjectStore, 'get' | 'put' | 'list'>): Promise<boolean> {
  await insertOnce(ownerIn(store), { _id: 'store', id: newId() });
  const { id, since } = (await ownerIn(store).findOne({ _id: 'store' }))!;
  const owner = await objects.get(OWNER);
  if (owner) return (await text(owner.stream)) === id;
  if (since && (await hasOlder(objects, new Date(since.getTime() - CLOCKS_DIFFER_MS)))) return false;
  await objects.put(OWNER, Buffer.from(id));
  return true;
}

async function hasOlder(objects: Pick<ObjectStore, 'list'>, than: Date): Promise<boolean> {
  for await (const listed of objects.list('scans')) if (listed.some(({ modified }) => modified < than)) return true;
  return false;
}
