import { copyFile, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import { copyFiles } from './back-up.ts';
import {
  type Backup,
  OBJECTS,
  readBackup,
  replaceFile,
  SECRET_FILES,
  STORE,
  sha256Of,
  syncFile,
} from './backup-folder.ts';

/** What a data folder has once Adsweep has run in it; Redis' files are an index of the records there. */
const IN_USE = ['store.db', 'store.db-wal', 'redis'];

/**
 * Puts a backup into `dataDir`, which must have no records yet. Can be repeated after it was interrupted: the records
 * get their name last. Returns the backup and how many files of scans there are. Throws OperatorError where the backup
 * is damaged or the folder is in use.
 */
export async function restore(folder: string, dataDir: string): Promise<{ backup: Backup; files: number }> {
  const backup = await readBackup(folder);
  if (!backup) throw new OperatorError(`${folder} has no complete backup`);
  const copy = join(folder, backup.store);
  if ((await sha256Of(copy)) !== backup.sha256)
    throw new OperatorError(`${copy} is damaged: it has not the bytes that were written`);
  makePrivateFolder(dataDir);
  const taken = (await readdir(dataDir)).filter((name) => IN_USE.includes(name));
  if (taken.length > 0)
    throw new OperatorError(
      `${dataDir} is in use (${taken.join(', ')}): move it away, or choose another ADSWEEP_DATA_DIR`,
    );
  const { copied, present } = backup.files === OBJECTS ? await copyFiles(folder, dataDir) : { copied: 0, present: 0 };
  const names = await readdir(folder);
  for (const name of SECRET_FILES.filter((secret) => names.includes(secret)))
    await replaceFile(join(dataDir, name), await readFile(join(folder, name)));
  const unnamed = join(dataDir, `${STORE}.restoring`);
  await copyFile(copy, unnamed);
  await syncFile(unnamed);
  await rename(unnamed, join(dataDir, STORE));
  await syncFile(dataDir);
  return { backup, files: copied + present };
}
