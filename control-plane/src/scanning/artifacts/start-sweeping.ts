import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ObjectStore } from '../../platform/object-store.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { startCleaning } from '../../platform/start-cleaning.ts';
import type { Loop } from '../../platform/start-loop.ts';
import type { Store } from '../../platform/store.ts';
import type { ArtifactStore } from './artifact-store.ts';
import { unrecordedSweep } from './sweep-unrecorded.ts';

type SweepParts = {
  store: Store;
  redis: RedisClient;
  objects: ObjectStore;
  artifacts: Pick<ArtifactStore, 'sweep' | 'listOf'>;
  logger: Logger;
};

/** Removes expired artifacts, and files that a crash left without a record. */
export function startSweeping({ store, objects, redis, artifacts, logger }: SweepParts): Loop {
  const sweepExpired = async (now: Date): Promise<boolean> => {
    const removed = await Promise.all([artifacts.sweep(now), store.sweepExpired(now)]);
    return removed.some((count) => count > 0);
  };
  return startCleaning(redis, logger, {
    expired: { name: 'sweep', clean: sweepExpired },
    walk: { name: 'sweep_unrecorded', clean: unrecordedSweep(objects, artifacts.listOf) },
  });
}
