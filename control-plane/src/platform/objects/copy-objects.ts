import type { ListedObject, ObjectStore } from './object-store.ts';

/** How many objects were copied, and how many were there already. */
export type CopyCounts = { copied: number; present: number };

const COPIES_AT_ONCE = 8;

/** `before`: only objects stored before that time. `progress`: called after each list of objects. */
export type CopyOptions = { before?: Date; progress?: (counts: CopyCounts) => void };

/**
 * Copies all objects below `key` that `to` lacks, or has with another size; an object never changes under its key.
 * Objects that are removed meanwhile are left out.
 */
export async function copyObjects(
  from: Pick<ObjectStore, 'list' | 'get'>,
  to: Pick<ObjectStore, 'list' | 'put'>,
  key: string,
  { before, progress }: CopyOptions = {},
): Promise<CopyCounts> {
  const counts = { copied: 0, present: 0 };
  const copyOne = async (object: string): Promise<void> => {
    const stored = await from.get(object);
    if (!stored) return;
    await to.put(object, stored.stream);
    counts.copied += 1;
  };
  for await (const listed of from.list(key)) {
    const objects = before ? listed.filter(({ modified }) => modified < before) : listed;
    for (const [folder, inFolder] of Map.groupBy(objects, (object) => folderOf(object.key))) {
      const missing = await missingOf(to, folder, inFolder);
      counts.present += inFolder.length - missing.length;
      for (let first = 0; first < missing.length; first += COPIES_AT_ONCE)
        await Promise.all(missing.slice(first, first + COPIES_AT_ONCE).map(copyOne));
    }
    progress?.(counts);
  }
  return counts;
}

const folderOf = (key: string): string => key.slice(0, key.lastIndexOf('/'));

async function missingOf(to: Pick<ObjectStore, 'list'>, folder: string, objects: ListedObject[]): Promise<string[]> {
  const present = new Map<string, number>();
  for await (const found of to.list(folder)) for (const { key, bytes } of found) present.set(key, bytes);
  return objects.filter(({ key, bytes }) => present.get(key) !== bytes).map(({ key }) => key);
}
