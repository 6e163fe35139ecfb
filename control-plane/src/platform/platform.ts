import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../metrics.ts';
import type { Broadcast } from './broadcast.ts';
import type { DiskSpace } from './disk-space.ts';
import type { Mailer } from './mail.ts';
import type { ObjectStore } from './objects/object-store.ts';
import type { RedisClient } from './redis.ts';
import type { Secrets } from './secrets.ts';
import type { Store } from './store.ts';
import type { WakeHub } from './wake-hub.ts';

/** The infrastructure that all domains use. */
export type Platform = {
  store: Store;
  objects: ObjectStore;
  secrets: Secrets;
  /** null: the operator has no mail server. */
  mailer: Mailer | null;
  disk: DiskSpace;
  redis: RedisClient;
  wake: WakeHub;
  broadcast: Broadcast;
  metrics: WorkMetrics;
  /** Aborts when the process closes its listeners: streams and polls end then. */
  closing: AbortSignal;
  logger: Logger;
};
