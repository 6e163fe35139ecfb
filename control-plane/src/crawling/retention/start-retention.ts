import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { takeTurns } from '../../platform/take-turns.ts';
import { type RetentionDays, type RetentionDependencies, removeOld } from './remove-old.ts';
import { type UnreferencedDependencies, unreferencedSweep } from './unreferenced-sweep.ts';

const REMOVE_EVERY_MS = 60_000;
/** A step of the walk over all captures and files; a pause between steps leaves the store to others. */
const WALK_STEP_EVERY_MS = 2_000;
const WALK_EVERY_MS = 6 * 60 * 60 * 1000;
/** A process that removes no more is replaced by another one after this time. */
const CLAIM_MS = 90_000;

export type StartRetentionDependencies = RetentionDependencies &
  UnreferencedDependencies & { redis: RedisClient; logger: Logger };

/** Removes scans and evidence that are older than they are kept, and what no scan names. Of several processes one does it. */
export function startRetention(dependencies: StartRetentionDependencies, days: RetentionDays): Loop {
  const { redis, logger } = dependencies;
  const removeSome = async () => (await removeOld(dependencies, days, new Date())) > 0;

  const sweepOn = unreferencedSweep(dependencies);
  let nextWalkAt = 0;
  const sweepNext = async (): Promise<void> => {
    if (Date.now() < nextWalkAt) return;
    if (!(await sweepOn(new Date()))) nextWalkAt = Date.now() + WALK_EVERY_MS;
  };

  const turns = takeTurns(redis, 'retention', CLAIM_MS);
  const loops = [
    startLoop(logger, { name: 'retention', everyMs: REMOVE_EVERY_MS, turn: () => turns.run(removeSome) }),
    startLoop(logger, { name: 'unreferenced', everyMs: WALK_STEP_EVERY_MS, turn: () => turns.run(sweepNext) }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await turns.release();
    },
  };
}
