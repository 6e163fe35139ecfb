import type { Readable } from 'node:stream';
import { isDiskFull } from '../disk-space.ts';

/**
 * Bytes by key, on a disk or in a bucket. A key is a path of safe segments, such as
 * `scans/<id>/<fence>/landing-0.webp`.
 */
export type ObjectStore = {
  /**
   * Stores `source` under `key` and atomically replaces an earlier object; stores nothing if it fails. After it has
   * resolved, the object survives a power cut. Rejects with the error of a source that failed.
   */
  put(key: string, source: Readable | Uint8Array): Promise<void>;
  /** The object or a range of it, and its total size; null if there is none. */
  get(key: string, range?: ByteRange): Promise<StoredObject | null>;
  /** Removes the object `key`. Does nothing if there is none. */
  delete(key: string): Promise<void>;
  /** Removes all objects below `key`. Does nothing if there are none. */
  deleteBelow(key: string): Promise<void>;
  /** All objects below `key`, in lists of bounded length. May miss objects that are stored or removed meanwhile. */
  list(key: string): AsyncGenerator<ListedObject[]>;
  /** Removes what interrupted uploads left before `before`; returns how many. */
  removeIncomplete(before: Date): Promise<number>;
  /** Rejects while objects cannot be stored or read. */
  ping(): Promise<void>;
};

/** The first and the last byte of a range, counted from 0. */
export type ByteRange = { start: number; end: number };

/** A stored object. The caller must read or destroy the stream. */
export type StoredObject = { stream: Readable; bytes: number };

/** An object that is not open: its size in bytes, and when it was stored. */
export type ListedObject = { key: string; bytes: number; modified: Date };

/** The store of objects cannot be reached, or refuses: try again later. */
export class ObjectsUnavailable extends Error {}

/** Whether the storage is the reason why an upload failed, and not its source. */
export const isStorageProblem = (error: unknown): boolean => error instanceof ObjectsUnavailable || isDiskFull(error);

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

export const isSafeKey = (key: string): boolean => key.split('/').every((segment) => SEGMENT.test(segment));

/** Throws for a key that could name something outside the store. */
export function requireSafeKey(key: string): void {
  if (!isSafeKey(key)) throw new Error('an object key has an unsafe segment');
}
