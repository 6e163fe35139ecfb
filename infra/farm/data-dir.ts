import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newApiKey, newSecret } from '@adsweep/shared/ids.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import { jsonOrNull } from '@adsweep/shared/validation/json-or-null.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';

const SQLITE_BUSY = 5;

/** Another running farm uses the data folder. */
export class DataDirInUse extends Error {
  constructor(dataDir: string, owner: string) {
    super(
      `${dataDir} is in use by another Adsweep${owner ? ` (process ${owner})` : ''}; stop it or choose another ADSWEEP_DATA_DIR`,
    );
  }
}

/**
 * Locks the data folder for this process; creates it if necessary and closes it to other users. The lock is that of an SQLite file, which the
 * operating system releases when the process ends, however it ends; a file with a process id would survive a crash. It does not hold
 * between machines on a network file system. Returns the function that unlocks. Throws {@link DataDirInUse}.
 */
export function lockDataDir(dataDir: string): () => void {
  makePrivateFolder(dataDir);
  const file = join(dataDir, 'farm.lock');
  const pidFile = join(dataDir, 'farm.pid');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // A stopping farm may have removed the file between our opening and locking it.
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

/** Whether another process holds the lock, or removed the file while we waited for it. */
const isTaken = ({ errcode, code }: SystemError): boolean => errcode === SQLITE_BUSY || code === 'ENOENT';

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '';
  }
}

const SecretsSchema = Type.Object({
  api_key: Type.String({ minLength: 8 }),
  node_token: Type.String({ minLength: 16 }),
  lease_secret: Type.String({ minLength: 16 }),
  ticket_secret: Type.String({ minLength: 16 }),
});

/**
 * The farm's own secrets, generated at the first start and kept in `<data dir>/secrets.json`, which only its owner can read. Throws an OperatorError if
 * that file is damaged.
 */
export function farmSecrets(dataDir: string) {
  const file = join(dataDir, 'secrets.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    text = JSON.stringify({
      api_key: newApiKey(),
      node_token: newSecret(32),
      lease_secret: newSecret(32),
      ticket_secret: newSecret(32),
    });
    writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  }
  const secrets = jsonOrNull(text);
  if (Value.Check(SecretsSchema, secrets)) return secrets;
  throw new OperatorError(
    `${file} has not the secrets that were written there: restore it, or remove it, and others are made, with another API key`,
  );
}
