import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { startCleaning } from '../../platform/start-cleaning.ts';
import type { Loop } from '../../platform/start-loop.ts';
import { type RetentionDays, type RetentionDependencies, removeOld } from './remove-old.ts';
import { type UnreferencedDependencies, unreferencedSweep } from './unreferenced-sweep.ts';

export type StartRetentionDependencies = RetentionDependencies &
  UnreferencedDependencies & { redis: RedisClient; logger: Logger };

/** Removes scans and evidence that are older than they are kept, and what no scan names. */
export function startRetention(dependencies: StartRetentionDependencies, days: RetentionDays): Loop {
  const removeSome = async (now: Date) => (await removeOld(dependencies, days, now)) > 0;
  return startCleaning(dependencies.redis, dependencies.logger, {
    expired: { name: 'retention', clean: removeSome },
    walk: { name: 'unreferenced', clean: unreferencedSweep(dependencies) },
  });
}
