import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from './redis.ts';
import { type Loop, startLoop } from './start-loop.ts';
import { takeTurns } from './take-turns.ts';

const EXPIRED_EVERY_MS = 60_000;
/** A step of a walk over everything that is stored; a pause between steps leaves the store to others. */
const WALK_STEP_EVERY_MS = 2_000;
const WALK_EVERY_MS = 6 * 60 * 60 * 1000;
/** A process that cleans no more is replaced by another one after this time. */
const CLAIM_MS = 90_000;

/** A part of the work at a time; answers whether there is more of it. */
type Clean = (now: Date) => Promise<boolean>;

/** `expired` removes what has had its time, `walk` finds what was left behind. The loops have these names in the log. */
export type CleaningPlan = { expired: { name: string; clean: Clean }; walk: { name: string; clean: Clean } };

/** Removes what has expired, without a pause while there is more of it, and walks on from time to time. Of several processes one does it. */
export function startCleaning(redis: RedisClient, logger: Logger, { expired, walk }: CleaningPlan): Loop {
  const turns = takeTurns(redis, expired.name, CLAIM_MS);
  let nextWalkAt = 0;
  const walkNext = async (): Promise<void> => {
    if (Date.now() < nextWalkAt) return;
    const hasMore = await turns.run(() => walk.clean(new Date()));
    if (hasMore === false) nextWalkAt = Date.now() + WALK_EVERY_MS;
  };

  const removeExpired = () => turns.run(() => expired.clean(new Date()));
  const loops = [
    startLoop(logger, { name: expired.name, everyMs: EXPIRED_EVERY_MS, turn: removeExpired }),
    startLoop(logger, { name: walk.name, everyMs: WALK_STEP_EVERY_MS, turn: walkNext }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await turns.release();
    },
  };
}
