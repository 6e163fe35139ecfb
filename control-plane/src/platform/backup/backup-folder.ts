import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

/**
 * A backup is a folder: `backup.json`, the copy of the store that it names, `objects/` with the files of scans, unless
 * these are in a bucket, and the secrets of the data folder. What `backup.json` names is complete: it is replaced last.
 */
const BackupSchema = Type.Object({
  format: Type.Literal(1),
  created_at: Type.String(),
  /** Name of the copy of the store, and the SHA-256 of its bytes. */
  store: Type.String({ pattern: '^store-[0-9A-Za-z-]+\\.db$' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  files: Type.Union([Type.Literal('objects'), Type.Literal('bucket')]),
});
export type Backup = Static<typeof BackupSchema>;

const NAME = 'backup.json';

/**
 * Files of the data folder that a backup takes along, if they are there: without them stored secrets cannot be read.
 */
export const SECRET_FILES = ['secrets.key', 'secrets.json'];
export const OBJECTS = 'objects';
export const STORE = 'store.db';

/**
 * The backup in `folder`; null: there is none, or it was never completed. Throws OperatorError for one that this
 * version does not know.
 */
export async function readBackup(folder: string): Promise<Backup | null> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const backup: unknown = JSON.parse(text);
  if (!Value.Check(BackupSchema, backup))
    throw new OperatorError(`${join(folder, NAME)} is not one that this version of Adsweep can read`);
  return backup;
}

export async function writeBackup(folder: string, backup: Backup): Promise<void> {
  await replaceFile(join(folder, NAME), `${JSON.stringify(backup, null, 2)}\n`);
  await syncFile(folder);
}

/**
 * Writes a file that only its owner can read, and syncs it to the disk. An earlier one stays until the new one is
 * complete.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** Syncs a file or a folder to the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
