import { createReadStream, createWriteStream, type Dir, type Dirent } from 'node:fs';
import { lstat, mkdir, open, opendir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '@adsweep/shared/ids.ts';
import { coalesce } from '@adsweep/shared/service/coalesce.ts';
import { type ListedObject, type ObjectStore, requireSafeKey } from './object-store.ts';

const TEMPORARY = '.incoming';
/** Attempts to create a folder that is removed concurrently just before a file is moved into it. */
const MOVES_MAX = 20;
/** Further attempts to remove a folder in which objects are stored concurrently. */
const DELETES_MAX = 20;

/**
 * Opens an object store with files below `root`. A file gets its name only when it is complete; a folder without files
 * is removed.
 */
export async function openDiskObjects(root: string): Promise<ObjectStore> {
  await mkdir(join(root, TEMPORARY), { recursive: true });
  const syncFolders = syncFoldersBelow(root);

  /** Renames a synced file to `path`, and syncs the folders. */
  const moveTo = async (path: string, temporary: string, attempt = 1): Promise<void> => {
    try {
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
    } catch (error) {
      if (!isMissingOnTheWay(error) || attempt === MOVES_MAX) throw error;
      return moveTo(path, temporary, attempt + 1);
    }
    await syncFolders(dirname(path));
  };

  return {
    async put(key, source) {
      const path = pathOf(root, key);
      const temporary = join(root, TEMPORARY, newId());
      try {
        // Wrapped in an array: Readable.from would otherwise emit a Uint8Array byte by byte.
        const from = source instanceof Readable ? source : Readable.from([source]);
        await pipeline(from, createWriteStream(temporary, { flush: true }));
        await moveTo(path, temporary);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },

    async get(key, range) {
      try {
        const file = await open(pathOf(root, key), 'r');
        const { size } = await file.stat();
        return { stream: createReadStream('', { fd: file, ...range }), bytes: size };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async delete(key) {
      const path = pathOf(root, key);
      await rm(path, { force: true });
      await removeEmptyFolders(root, dirname(path));
    },

    async deleteBelow(key) {
      const path = pathOf(root, key);
      // Again where another request stores an object in a folder while this removes it.
      await rm(path, { recursive: true, force: true, maxRetries: DELETES_MAX, retryDelay: 5 });
      await removeEmptyFolders(root, dirname(path));
    },

    list: (key) => listFolder(pathOf(root, key), key),

    async removeIncomplete(before) {
      let removed = 0;
      for await (const files of listFolder(join(root, TEMPORARY), TEMPORARY)) {
        const abandoned = files.filter(({ modified }) => modified < before);
        for (const { key } of abandoned) await rm(join(root, key), { force: true });
        removed += abandoned.length;
      }
      return removed;
    },

    async ping() {
      await lstat(join(root, TEMPORARY));
    },
  };
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** `mkdir` says ENOTDIR of a folder that it found and that was removed before it looked what it is. */
const isMissingOnTheWay = (error: unknown): boolean =>
  isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR';

function pathOf(root: string, key: string): string {
  requireSafeKey(key);
  return join(root, ...key.split('/'));
}

/** Removes `folder` and its parents below `root`, up to the first one that has something in it. */
async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (folder === root) return;
  try {
    await rmdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return;
    // A missing folder may have been the last one in its parent.
    if (code !== 'ENOENT') throw error;
  }
  await removeEmptyFolders(root, dirname(folder));
}

/** Syncs a folder and its parents, up to and including `root`, to the disk. */
export type SyncFolders = (folder: string) => Promise<void>;

/** Callers during a sync of a folder share its next one. */
function syncFoldersBelow(root: string): SyncFolders {
  const syncs = new Map<string, { run: () => Promise<void>; callers: number }>();

  const syncOne = async (folder: string): Promise<void> => {
    const sync = syncs.get(folder) ?? { run: coalesce(() => syncFolder(folder)), callers: 0 };
    syncs.set(folder, sync);
    sync.callers += 1;
    try {
      await sync.run();
    } finally {
      sync.callers -= 1;
      if (sync.callers === 0) syncs.delete(folder);
    }
  };
  return async (folder) => void (await Promise.all(foldersUpTo(root, folder).map(syncOne)));
}

function foldersUpTo(root: string, folder: string): string[] {
  return folder === root ? [root] : [folder, ...foldersUpTo(root, dirname(folder))];
}

/** A folder that is missing was removed with all that had been stored in it. */
async function syncFolder(folder: string): Promise<void> {
  try {
    await using file = await open(folder, 'r');
    await file.sync();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Maximum number of objects per yielded part of a folder. */
const OBJECTS_AT_ONCE = 200;

/**
 * Lists the files below the folder `path`, named `key`, folder by folder. Reads lazily, so that large folders are never
 * in memory as a whole. Skips what is removed meanwhile.
 */
async function* listFolder(path: string, key: string): AsyncGenerator<ListedObject[]> {
  const folder = await openFolder(path);
  if (!folder) return;
  let objects: ListedObject[] = [];
  for await (const entry of folder) {
    const [below, name] = [join(path, entry.name), `${key}/${entry.name}`];
    if (entry.isDirectory()) yield* listFolder(below, name);
    else objects.push(...(await objectAt(entry, below, name)));
    if (objects.length === OBJECTS_AT_ONCE) {
      yield objects;
      objects = [];
    }
  }
  if (objects.length > 0) yield objects;
}

async function objectAt(entry: Dirent, path: string, key: string): Promise<ListedObject[]> {
  const file = entry.isFile() ? await lstat(path).catch(nullIfMissing) : null;
  return file ? [{ key, bytes: file.size, modified: file.mtime }] : [];
}

const openFolder = (path: string): Promise<Dir | null> => opendir(path, { bufferSize: 64 }).catch(nullIfMissing);

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
