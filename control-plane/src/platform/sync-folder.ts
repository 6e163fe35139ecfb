import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { coalesce } from '@adsweep/shared/service/coalesce.ts';

/** Brings the names in a folder, and in the folders above it up to and with `root`, to the disk. */
export type SyncFolders = (folder: string) => Promise<void>;

/** Callers that come while a folder is being synced share its next sync. A folder that is gone by then rejects (ENOENT). */
export function syncFoldersBelow(root: string): SyncFolders {
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
