import { HOUR_MS } from '@adsweep/shared/durations.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { exclusiveWork } from './exclusive-work.ts';
import type { RedisClient } from './redis.ts';
import { type Loop, startLoop } from './start-loop.ts';

const EXPIRED_EVERY_MS = 60_000;
/**
 * Pause between the steps of a walk over all stored objects, so that it does not slow down other users of the store.
 */
const WALK_STEP_EVERY_MS = 2_000;
const WALK_EVERY_MS = 6 * HOUR_MS;
/** After this time another process replaces one that has stopped cleaning. */
const CLAIM_MS = 90_000;

/** Does a part of the work; returns whether there is more to do. */
type Clean = (now: Date) => Promise<boolean>;

/**
 * `expired` removes what has expired, `walk` finds leftovers of interrupted work. The names are those of the loops in
 * the log.
 */
export type CleaningPlan = { expired: { name: string; clean: Clean }; walk: { name: string; clean: Clean } };

/**
 * Removes expired records once a minute, and runs the walk every six hours. Only one process of a deployment does it at
 * a time.
 */
export function startCleaning(redis: RedisClient, logger: Logger, { expired, walk }: CleaningPlan): Loop {
  const exclusive = exclusiveWork(redis, expired.name, CLAIM_MS);
  let nextWalkAt = 0;
  const walkNext = async (): Promise<void> => {
    if (Date.now() < nextWalkAt) return;
    const hasMore = await exclusive.run(() => walk.clean(new Date()));
    if (hasMore === false) nextWalkAt = Date.now() + WALK_EVERY_MS;
  };

  const removeExpired = () => exclusive.run(() => expired.clean(new Date()));
  const loops = [
    startLoop(logger, { name: expired.name, everyMs: EXPIRED_EVERY_MS, step: removeExpired }),
    startLoop(logger, { name: walk.name, everyMs: WALK_STEP_EVERY_MS, step: walkNext }),
  ];
  return { stop: () => exclusive.stop(...loops) };
}
