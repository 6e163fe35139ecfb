import type { Logger } from '@adsweep/shared/service/logger.ts';
import { openDiskObjects } from './disk-objects.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3Location } from './s3-objects.ts';

/**
 * Opens the bucket, or without one the folder. The SDK for S3 is loaded only for a bucket: it takes as long as
 * everything else of a start.
 */
export async function openObjects(folder: string, bucket: S3Location | null, logger: Logger): Promise<ObjectStore> {
  if (!bucket) return openDiskObjects(folder);
  return (await import('./s3-objects.ts')).openS3Objects(bucket, logger);
}
