import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { newId } from '@adsweep/shared/ids.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import { type CopyCounts, copyObjects } from '../objects/copy-objects.ts';
import { openDiskObjects } from '../objects/disk-objects.ts';
import type { Store } from '../store.ts';
import { OBJECTS, readBackup, replaceFile, SECRET_FILES, sha256Of, writeBackup } from './backup-folder.ts';

/** What is backed up: the store in `dataDir`, and the files there unless they are `inBucket`. */
export type BackedUp = { store: Pick<Store, 'backUp'>; dataDir: string; inBucket: boolean };

/** What a backup did: files of scans that it copied, and those that an earlier one in the same folder had copied. */
export type BackupResult = { folder: string; copied: number; present: number; inBucket: boolean };

/**
 * Makes a backup in `folder`, which is new, empty or has an earlier backup. Writes go on: the records are those of one
 * moment, and the files that they name are there, except for those that both came and were deleted while it was made.
 * Files are copied before the records, and then those that came meanwhile: what was there at first and is deleted in
 * between is in the copy already. Throws OperatorError when the folder cannot take it.
 */
export async function backUp({ store, dataDir, inBucket }: BackedUp, folder: string): Promise<BackupResult> {
  if (!store.backUp)
    throw new OperatorError('the records are in MongoDB: back them up with its own tools, such as mongodump');
  await prepareFolder(folder, dataDir);
  await removeIncomplete(folder);
  try {
    const first = inBucket ? NO_FILES : await copyFiles(dataDir, folder, new Date());
    const copy = `store-${newId()}.db`;
    await store.backUp(join(folder, copy));
    const meanwhile = inBucket ? NO_FILES : await copyFiles(dataDir, folder, new Date());
    await copySecrets(dataDir, folder);
    const sha256 = await sha256Of(join(folder, copy));
    const files = inBucket ? 'bucket' : OBJECTS;
    await writeBackup(folder, { format: 1, created_at: new Date().toISOString(), store: copy, sha256, files });
    return { folder, copied: first.copied + meanwhile.copied, present: first.present, inBucket };
  } finally {
    await removeIncomplete(folder);
  }
}

const NO_FILES: CopyCounts = { copied: 0, present: 0 };

/**
 * Copies the files of scans that `to` lacks, from one folder with `objects/` to another; only those stored before
 * `before`.
 */
export async function copyFiles(from: string, to: string, before?: Date): Promise<CopyCounts> {
  const [source, target] = await Promise.all([
    openDiskObjects(join(from, OBJECTS)),
    openDiskObjects(join(to, OBJECTS)),
  ]);
  await target.removeIncomplete(new Date());
  return copyObjects(source, target, 'scans', before ? { before } : {});
}

async function prepareFolder(folder: string, dataDir: string): Promise<void> {
  const inside = `${resolve(folder)}/`.startsWith(`${resolve(dataDir)}/`);
  if (inside)
    throw new OperatorError(`${folder} is in the data folder: choose a folder elsewhere, best on another disk`);
  // Looked at before it is closed to others: a folder that is not ours stays as it is.
  const names = await readdir(folder).catch((): string[] => []);
  const isOurs = names.every(
    (name) =>
      name === OBJECTS || COPY.test(name) || ['backup.json', ...SECRET_FILES].includes(name.replace(/\.new$/, '')),
  );
  if (!isOurs) throw new OperatorError(`${folder} has other files than those of a backup: choose an empty folder`);
  makePrivateFolder(folder, 'the folder of the backup');
  await readBackup(folder);
}

const COPY = /^store-[0-9A-Za-z-]+\.db$/;

async function copySecrets(from: string, to: string): Promise<void> {
  for (const name of SECRET_FILES) {
    const content = await readFile(join(from, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (content) await replaceFile(join(to, name), content);
  }
}

/**
 * Removes the copies of the store that are no backup: of earlier ones, and of those that failed or were interrupted,
 * which would take the space that each further one needs.
 */
async function removeIncomplete(folder: string): Promise<void> {
  const complete = await readBackup(folder);
  const others = (await readdir(folder)).filter((name) => COPY.test(name) && name !== complete?.store);
  for (const name of others) await rm(join(folder, name));
}
