import { newId } from '@adsweep/shared/ids.ts';
import { loadScript, type RedisClient } from './redis.ts';
import type { Loop } from './start-loop.ts';

const [claim, release] = ['claim', 'release'].map((name) =>
  loadScript(new URL(`scripts/${name}.lua`, import.meta.url)),
);

/** Work that one process of a deployment does at a time. */
export type ExclusiveWork = {
  /**
   * Runs `work` unless another process holds the claim, and returns its result; undefined if another process holds it.
   * The claim is renewed while `work` runs and kept for `claimMs` after it. While Redis is unavailable every process
   * may run: exclusive work must be idempotent.
   */
  run<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Stops loops that run it, then gives up the claim, so that another process can take it at once. */
  stop(...loops: Loop[]): Promise<void>;
};

const RENEWALS_PER_CLAIM = 3;

/** Work named `name`, claimed for `claimMs` at a time. */
export function exclusiveWork(redis: RedisClient, name: string, claimMs: number): ExclusiveWork {
  // The key is that of earlier versions, which may run at the same time during an update.
  const [key, self] = [`adsweep:turn:${name}`, newId()];
  const isClaimed = () =>
    claim!(redis, [key], [self, claimMs]).then(
      (reply) => reply === 1,
      () => true,
    );

  return {
    async run(work) {
      if (!(await isClaimed())) return undefined;
      const renewing = setInterval(() => void isClaimed(), claimMs / RENEWALS_PER_CLAIM);
      try {
        return await work();
      } finally {
        clearInterval(renewing);
      }
    },

    async stop(...loops) {
      await Promise.all(loops.map((loop) => loop.stop()));
      await release!(redis, [key], [self]).catch(() => undefined);
    },
  };
}
