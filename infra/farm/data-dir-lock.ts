import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';

const SQLITE_BUSY = 5;

/** The data folder belongs to another running farm. */
export class DataDirInUse extends Error {
  constructor(dataDir: string, owner: string) {
    super(
      `${dataDir} is in use by another Adsweep${owner ? ` (process ${owner})` : ''}; stop it or choose another ADSWEEP_DATA_DIR`,
    );
  }
}

/**
 * Takes the data folder for this process, creating it where needed and closing it to other users. The lock is the operating system's (that of an SQLite file), so
 * it goes with the process however that ends. Answers the function that gives it back. Throws {@link DataDirInUse}.
 */
export function lockDataDir(dataDir: string): () => void {
  makePrivateFolder(dataDir);
  const file = join(dataDir, 'farm.lock');
  const pidFile = join(dataDir, 'farm.pid');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // A farm that was just stopping may have removed the file between our opening and locking it.
    statSync(file);
  } catch (error) {
    database.close();
    throw isTaken(error as SystemError) ? new DataDirInUse(dataDir, readPid(pidFile)) : error;
  }
  writeFileSync(pidFile, String(process.pid));
  return () => {
    rmSync(pidFile, { force: true });
    rmSync(file, { force: true });
    database.close();
  };
}

type SystemError = Error & { errcode?: number; code?: string };

/** Whether somebody holds the lock, or removed the file while we waited for it. */
const isTaken = ({ errcode, code }: SystemError): boolean => errcode === SQLITE_BUSY || code === 'ENOENT';

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '';
  }
}
