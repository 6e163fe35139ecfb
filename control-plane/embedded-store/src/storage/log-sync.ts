import { close, fdatasync, fsync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { coalesce } from '@adsweep/shared/service/coalesce.ts';

/** Group commit: syncs committed data to the disk. */
export type LogSync = {
  /** Must be called after each commit. */
  committed(): void;
  /** Resolves when everything committed before this call would survive a power cut. Rejects once a sync has failed. */
  synced(): Promise<void>;
  /** Throws once a sync has failed, because later writes could no longer be guaranteed. */
  assertWorking(): void;
  close(): Promise<void>;
};

const IN_MEMORY: LogSync = {
  committed: () => {},
  synced: async () => {},
  assertWorking: () => {},
  close: async () => {},
};

/**
 * Syncs the write-ahead log of the SQLite file at `path`; null for one in memory. SQLite appends each commit to that
 * log (`synchronous=NORMAL`); the one thing that `synchronous=FULL` adds is a sync of the log at the end of each
 * commit, in the thread that commits. Here this sync runs in the thread pool, and commits that arrive while one is
 * under way share the next.
 */
export function openLogSync(path: string | null): LogSync {
  if (path === null) return IN_MEMORY;
  const log = openSync(`${path}-wal`, 'r+');
  const folder = openSync(dirname(path), 'r');
  let [committed, synced] = [0, -1];
  let failure: Error | null = null;

  const assertWorking = () => {
    if (failure) throw failure;
  };
  const syncLog = coalesce(async () => {
    assertWorking();
    const upTo = committed;
    try {
      // Only the first sync must persist the names of the files.
      if (synced < 0) await promisify(fsync)(folder);
      await promisify(fdatasync)(log);
      synced = upTo;
    } catch (cause) {
      // The kernel may have dropped pages that it could not write, so a later successful sync proves nothing.
      failure = new Error('the store could not be written to the disk and takes nothing more', { cause });
      throw failure;
    }
  });

  return {
    committed: () => {
      committed += 1;
    },
    async synced() {
      assertWorking();
      if (synced < committed) await syncLog();
    },
    assertWorking,
    async close() {
      await syncLog().catch(() => undefined);
      for (const file of [log, folder]) await promisify(close)(file);
    },
  };
}
