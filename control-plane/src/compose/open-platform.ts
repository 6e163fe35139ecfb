import { join } from 'node:path';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { makePrivateFolder } from '@adsweep/shared/service/private-folder.ts';
import { type Config, mailSettings } from '../config.ts';
import { warnOfRedis } from '../crawling/queue/redis-requirements.ts';
import { type Metrics, workMetrics } from '../metrics.ts';
import { openBroadcast } from '../platform/broadcast.ts';
import { diskSpace } from '../platform/disk-space.ts';
import { openMailer } from '../platform/mail.ts';
import { bringUpToDate } from '../platform/migrations/bring-up-to-date.ts';
import { bucketSettings } from '../platform/objects/bucket-settings.ts';
import { openObjects } from '../platform/objects/open-objects.ts';
import type { Platform } from '../platform/platform.ts';
import { openRedis, redisReady } from '../platform/redis.ts';
import { openSecrets } from '../platform/secrets.ts';
import { openStore } from '../platform/store.ts';
import { openWakeHub } from '../platform/wake-hub.ts';

const MEGABYTE = 1024 * 1024;

/** How long the start waits for Redis before it goes on without it. */
const REDIS_WAIT_MS = 2_000;

/** Opens the store, the files and the connection to Redis, which may be unavailable. Rejects without a store. */
export async function openPlatform(
  config: Config,
  { registry }: Metrics,
  logger: Logger,
  closing: AbortSignal,
): Promise<Platform> {
  const folder = config.ADSWEEP_DATA_DIR;
  makePrivateFolder(folder);
  const secrets = openSecrets(config.ADSWEEP_SECRETS_KEY, folder);
  if (config.MONGODB_URL !== '' && config.ADSWEEP_SECRETS_KEY === '')
    logger.warn('without ADSWEEP_SECRETS_KEY only processes with this data folder can read the secrets stored here');
  const [files, bucket] = [join(folder, 'objects'), bucketSettings(config)];
  const objects = await openObjects(files, bucket, logger);
  const store = await openStore({ mongodbUrl: config.MONGODB_URL, path: join(folder, 'store.db') });
  await bringUpToDate(store, logger);
  const redis = openRedis(config.REDIS_URL, logger);
  // The folder of the files may be a file system of its own.
  const disk = diskSpace(bucket ? [folder] : [folder, files], config.ADSWEEP_DISK_FLOOR_MB * MEGABYTE);
  const [wake, broadcast] = [openWakeHub(redis), openBroadcast(redis)];
  const mail = mailSettings(config);
  const [metrics, mailer] = [workMetrics(registry), mail && openMailer(mail)];
  return { store, objects, secrets, mailer, disk, redis, wake, broadcast, metrics, closing, logger };
}

/** Resolves when Redis answers, or after two seconds: everything can start without it. */
export async function waitForRedis({ redis, logger }: Platform): Promise<void> {
  await redisReady(redis, REDIS_WAIT_MS).catch((cause: unknown) => logger.warn({ cause }, 'started without redis'));
  warnOfRedis(redis, logger);
}
