import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '@adsweep/shared/ids.ts';

/** Bytes by key. A key is a path of safe segments, such as `scans/<id>/<fence>/landing-0.webp`. */
export type ObjectStore = {
  /** Stores all of `source` under `key`, or nothing when it fails; what stood there before is replaced at once. */
  put(key: string, source: Readable | Uint8Array): Promise<void>;
  /** The bytes and how many they are, or null where there is nothing under `key`. */
  get(key: string): Promise<StoredObject | null>;
  /** Removes what is under `key`, or all keys below it. Nothing there is no error. */
  delete(key: string): Promise<void>;
};

/** A stored object; whoever asked for it reads or destroys the stream. */
export type StoredObject = { stream: Readable; bytes: number };

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** Objects as files below `root`. A file appears whole, under its own name, or not at all. */
export async function openDiskObjects(root: string): Promise<ObjectStore> {
  const incoming = join(root, '.incoming');
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true });

  return {
    async put(key, source) {
      const path = pathOf(root, key);
      const half = join(incoming, newId());
      try {
        // A lone Uint8Array is wrapped: Readable.from would give out its bytes one by one.
        const from = source instanceof Readable ? source : Readable.from([source]);
        await pipeline(from, createWriteStream(half, { flush: true }));
        await mkdir(dirname(path), { recursive: true });
        await rename(half, path);
      } catch (error) {
        await rm(half, { force: true });
        throw error;
      }
    },

    async get(key) {
      try {
        const file = await open(pathOf(root, key), 'r');
        const { size } = await file.stat();
        return { stream: createReadStream('', { fd: file }), bytes: size };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },

    async delete(key) {
      await rm(pathOf(root, key), { recursive: true, force: true });
    },
  };
}

function pathOf(root: string, key: string): string {
  const segments = key.split('/');
  if (!segments.every((segment) => SEGMENT.test(segment))) throw new Error('an object key has an unsafe segment');
  return join(root, ...segments);
}
