import type { Dir, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder of stored objects: when names in it last changed, and the objects that lie in it, not those below it. */
export type StoredFolder = { key: string; modified: Date; objects: { key: string; modified: Date }[] };

/** So many objects of one folder are told together; a fuller folder is told in several parts. */
const OBJECTS_AT_ONCE = 200;

/**
 * The folder `path` and all below it, the lower ones first; `key` is what it is called. Reads on as it is asked, so that no folder, however
 * full, is held in memory. What vanishes on the way is left out.
 */
export async function* walkFolders(path: string, key: string): AsyncGenerator<StoredFolder> {
  const [folder, modified] = [await openFolder(path), await modifiedAt(path)];
  if (!folder || !modified) return;
  let objects: StoredFolder['objects'] = [];
  for await (const entry of folder) {
    const [below, name] = [join(path, entry.name), `${key}/${entry.name}`];
    if (entry.isDirectory()) yield* walkFolders(below, name);
    else objects.push(...(await objectAt(entry, below, name)));
    if (objects.length === OBJECTS_AT_ONCE) {
      yield { key, modified, objects };
      objects = [];
    }
  }
  yield { key, modified, objects };
}

async function objectAt(entry: Dirent, path: string, key: string): Promise<StoredFolder['objects']> {
  const modified = entry.isFile() ? await modifiedAt(path) : null;
  return modified ? [{ key, modified }] : [];
}

const openFolder = (path: string): Promise<Dir | null> => opendir(path, { bufferSize: 64 }).catch(nullIfMissing);
const modifiedAt = (path: string): Promise<Date | null> => lstat(path).then(({ mtime }) => mtime, nullIfMissing);

function nullIfMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
