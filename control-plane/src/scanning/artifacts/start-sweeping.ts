import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ObjectStore } from '../../platform/object-store.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { Store } from '../../platform/store.ts';
import { takeTurns } from '../../platform/take-turns.ts';
import type { ArtifactStore } from './artifact-store.ts';
import { unrecordedSweep } from './sweep-unrecorded.ts';

const EXPIRED_EVERY_MS = 60_000;
/** A step of the walk over all files; a pause between steps leaves the disk to others. */
const WALK_STEP_EVERY_MS = 2_000;
const WALK_EVERY_MS = 6 * 60 * 60 * 1000;

/** A process that sweeps no more is replaced by another one after this time. */
const CLAIM_MS = 90_000;

type SweepParts = {
  store: Store;
  redis: RedisClient;
  objects: ObjectStore;
  artifacts: Pick<ArtifactStore, 'sweep' | 'listOf'>;
  logger: Logger;
};

/**
 * Removes what has expired, without a pause while there is more of it, and files that a crash left without a record. Of several processes
 * one does it.
 */
export function startSweeping({ store, objects, redis, artifacts, logger }: SweepParts): Loop {
  const sweepExpired = async (): Promise<boolean> => {
    const now = new Date();
    const removed = await Promise.all([artifacts.sweep(now), store.sweepExpired(now)]);
    return removed.some((count) => count > 0);
  };

  const sweepUnrecorded = unrecordedSweep(objects, artifacts.listOf);
  let nextWalkAt = 0;
  const sweepNext = async (): Promise<void> => {
    if (Date.now() < nextWalkAt) return;
    const hasMore = await sweepUnrecorded(new Date());
    if (!hasMore) nextWalkAt = Date.now() + WALK_EVERY_MS;
  };

  const turns = takeTurns(redis, 'sweep', CLAIM_MS);
  const loops = [
    startLoop(logger, { name: 'sweep', everyMs: EXPIRED_EVERY_MS, turn: () => turns.run(sweepExpired) }),
    startLoop(logger, { name: 'sweep_unrecorded', everyMs: WALK_STEP_EVERY_MS, turn: () => turns.run(sweepNext) }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await turns.release();
    },
  };
}
