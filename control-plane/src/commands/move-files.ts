import { join } from 'node:path';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { failStart, OperatorError } from '@adsweep/shared/service/operator-error.ts';
import { Type } from 'typebox';
import { ConfigSchema, readSettings } from '../config.ts';
import { bucketProperties, bucketSettings } from '../platform/objects/bucket-settings.ts';
import { copyObjects } from '../platform/objects/copy-objects.ts';
import { openDiskObjects } from '../platform/objects/disk-objects.ts';
import { openObjects } from '../platform/objects/open-objects.ts';

/**
 * `npm run move-files`: copies the artifacts in the data folder to the bucket. What the bucket has already is left out,
 * so that it can be interrupted, and repeated after the control plane has stopped writing to the folder. The folder
 * stays as it is.
 */

const { ADSWEEP_DATA_DIR } = ConfigSchema.properties;
const MoveSchema = Type.Object({ ADSWEEP_DATA_DIR, ...bucketProperties });

async function main(): Promise<void> {
  const config = readSettings(MoveSchema);
  const bucket = bucketSettings(config);
  if (!bucket) throw new OperatorError('ADSWEEP_S3_BUCKET names the bucket that the files are copied to: set it');
  const folder = join(config.ADSWEEP_DATA_DIR, 'objects');
  const from = await openDiskObjects(folder);
  const to = await openObjects(folder, bucket, createLogger('move-files', 'error'));
  let said = 0;
  const counts = await copyObjects(from, to, 'scans', {
    progress: ({ copied, present }) => {
      const thousands = Math.floor((copied + present) / 1_000);
      if (thousands > said) console.log(`${copied} files copied, ${present} were there already`);
      said = thousands;
    },
  });
  console.log(`done: ${counts.copied} files copied from ${folder}, ${counts.present} were there already`);
}

main().catch(failStart);
