import { resolve } from 'node:path';
import { failStart, OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { Type } from 'typebox';
import { ConfigSchema, readSettings } from '../config.ts';
import { restore } from '../platform/backup/restore.ts';

/** `npm run restore -- <folder>`: puts a backup into the data folder, which must not have been used. */

const { ADSWEEP_DATA_DIR } = ConfigSchema.properties;

async function main(): Promise<void> {
  const [from] = process.argv.slice(2);
  if (from === undefined) throw new OperatorError('name the folder of the backup: npm run restore -- <folder>');
  const { ADSWEEP_DATA_DIR: dataDir } = readSettings(Type.Object({ ADSWEEP_DATA_DIR }));
  const { backup, files } = await restore(resolve(from), dataDir);
  const said = backup.files === 'bucket' ? 'its files are in the bucket' : `${files} files of scans`;
  console.log(`restored into ${dataDir}: the records of ${backup.created_at}, ${said}`);
}

main().catch(failStart);
