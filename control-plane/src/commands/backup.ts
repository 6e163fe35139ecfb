import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { failStart, OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { Type } from 'typebox';
import { ConfigSchema, readSettings } from '../config.ts';
import { type BackupResult, backUp } from '../platform/backup/back-up.ts';
import { STORE } from '../platform/backup/backup-folder.ts';
import { requestBackup } from '../platform/backup/backup-socket.ts';
import { openStore } from '../platform/store.ts';

/**
 * `npm run backup -- <folder>`: a backup of the embedded store, of the files of scans and of the secrets in the data
 * folder. A running Adsweep makes it itself and goes on working.
 */

const { ADSWEEP_DATA_DIR, ADSWEEP_S3_BUCKET, MONGODB_URL } = ConfigSchema.properties;
const BackupSchema = Type.Object({ ADSWEEP_DATA_DIR, ADSWEEP_S3_BUCKET, MONGODB_URL });

async function main(): Promise<void> {
  const [to] = process.argv.slice(2);
  if (to === undefined) throw new OperatorError('name the folder of the backup: npm run backup -- <folder>');
  const { ADSWEEP_DATA_DIR: dataDir, ADSWEEP_S3_BUCKET: bucket, MONGODB_URL: mongodb } = readSettings(BackupSchema);
  if (mongodb !== '')
    throw new OperatorError('the records are in MongoDB: infra/OPERATIONS.md says how they are backed up');
  const folder = resolve(to);
  const result = (await requestBackup(dataDir, folder)) ?? (await backUpStopped(dataDir, bucket !== '', folder));
  const files = result.inBucket
    ? 'the files of scans are in the bucket and not in it'
    : `${result.copied} files of scans were copied, ${result.present} were there already`;
  console.log(`backup made in ${folder}: ${files}`);
}

/** The backup of a store that no process has open. */
async function backUpStopped(dataDir: string, inBucket: boolean, folder: string): Promise<BackupResult> {
  const path = join(dataDir, STORE);
  // Opening it would make one, and its backup would replace the earlier one in the folder.
  if (!existsSync(path))
    throw new OperatorError(`${resolve(dataDir)} has no records: set ADSWEEP_DATA_DIR as Adsweep has it`);
  const store = await openStore({ path });
  try {
    return await backUp({ store, dataDir, inBucket }, folder);
  } finally {
    await store.close();
  }
}

main().catch(failStart);
