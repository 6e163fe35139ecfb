import { createReadStream, createWriteStream, type Dir, type Dirent } from 'node:fs';
import { lstat, mkdir, open, opendir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '@adsweep/shared/ids.ts';
import { coalesce } from '@adsweep/shared/service/coalesce.ts';

/** Bytes by key. A key is a path of safe segments, such as `scans/<id>/<fence>/landing-0.webp`. */
export type ObjectStore = {
  /**
   * Stores `source` under `key` and atomically replaces an earlier object; stores nothing if it fails. After it has resolved, the object
   * survives a power cut.
   */
  put(key: string, source: Readable | Uint8Array): Promise<void>;
  /** The object or a range of it, and its total size; null if there is none. */
  get(key: string, range?: ByteRange): Promise<StoredObject | null>;
  /** Removes the object `key`, or all objects below it. Does nothing if there is none. */
  delete(key: string): Promise<void>;
  /** All objects below `key`, folder by folder, in no particular order. May miss objects that are stored or removed during the walk. */
  walk(key: string): AsyncGenerator<StoredFolder>;
  /** Removes the folder `key` if it is empty. */
  removeEmptyFolder(key: string): Promise<void>;
  /** Removes the temporary files of interrupted uploads, last written before `before`; returns how many. */
  removeTemporary(before: Date): Promise<number>;
};

/** The first and the last byte of a range, counted from 0. */
export type ByteRange = { start: number; end: number };

/** A stored object. The caller must read or destroy the stream. */
export type StoredObject = { stream: Readable; bytes: number };

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;
const TEMPORARY = '.incoming';
/** Attempts to create a folder that is removed concurrently just before a file is moved into it. */
const MOVES_MAX = 20;
/** Further attempts to remove a folder in which objects are stored concurrently. */
const DELETES_MAX = 20;

/** Opens an object store with files below `root`. A file gets its name only when it is complete. */
export async function openDiskObjects(root: string): Promise<ObjectStore> {
  await mkdir(join(root, TEMPORARY), { recursive: true });
  const syncFolders = syncFoldersBelow(root);

  /** Renames a synced file to `path`, and syncs the folders. */
  const moveTo = async (path: string, temporary: string, attempt = 1): Promise<void> => {
    try {
      await mkdir(dirname(path), { recursive: true });
      await rename(temporary, path);
    } catch (error) {
      if (!isMissing(error) || attempt === MOVES_MAX) throw error;
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
      // Again where another request stores an object in a folder while this removes it.
      const again = { maxRetries: DELETES_MAX, retryDelay: 5 };
      await rm(pathOf(root, key), { recursive: true, force: true, ...again });
    },

    walk: (key) => walkFolders(pathOf(root, key), key),

    async removeEmptyFolder(key) {
      try {
        await rmdir(pathOf(root, key));
      } catch (error) {
        if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      }
    },

    async removeTemporary(before) {
      let removed = 0;
      for await (const { objects } of walkFolders(join(root, TEMPORARY), TEMPORARY)) {
        const abandoned = objects.filter(({ modified }) => modified < before);
        for (const { key } of abandoned) await rm(join(root, key), { force: true });
        removed += abandoned.length;
      }
      return removed;
    },
  };
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

function pathOf(root: string, key: string): string {
  const segments = key.split('/');
  if (!segments.every((segment) => SEGMENT.test(segment))) throw new Error('an object key has an unsafe segment');
  return join(root, ...segments);
}

/** Syncs a folder and its parents, up to and including `root`, to the disk. */
export type SyncFolders = (folder: string) => Promise<void>;

/** Callers during a sync of a folder share its next one. Rejects with ENOENT if the folder was removed. */
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

async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A folder of stored objects: when its entries last changed, and the objects directly in it. */
export type StoredFolder = { key: string; modified: Date; objects: { key: string; modified: Date }[] };

/** Maximum number of objects per yielded part of a folder. */
const OBJECTS_AT_ONCE = 200;

/**
 * Walks the folder `path`, named `key`, and all below it, children first. Reads lazily, so that large folders are never in memory as a
 * whole. Skips what is removed during the walk.
 */
async function* walkFolders(path: string, key: string): AsyncGenerator<StoredFolder> {
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
