import { newId } from '@adsweep/shared/ids.ts';
import { loadScript, type RedisClient } from './redis.ts';

const [claim, release] = ['claim', 'release'].map((name) =>
  loadScript(new URL(`scripts/${name}.lua`, import.meta.url)),
);

/** Work that only one process of a deployment does at a time. */
export type TakeTurns = {
  /**
   * Runs `turn` where no other process has the work, and keeps it for `claimMs` after the last renewal; answers what `turn` does, or
   * undefined where another process has it. While Redis is away everyone may: such work can be done twice, only in vain.
   */
  run<T>(turn: () => Promise<T>): Promise<T | undefined>;
  /** Releases the work, so that another process can take it at once. */
  release(): Promise<void>;
};

const RENEWALS_PER_CLAIM = 3;

/** Shares the work `name` among processes: the one that has it keeps it as long as it takes turns within `claimMs`. */
export function takeTurns(redis: RedisClient, name: string, claimMs: number): TakeTurns {
  const [key, self] = [`adsweep:turn:${name}`, newId()];
  const mayRun = () =>
    claim!(redis, [key], [self, claimMs]).then(
      (reply) => reply === 1,
      () => true,
    );

  return {
    async run(turn) {
      if (!(await mayRun())) return undefined;
      const renewing = setInterval(() => void mayRun(), claimMs / RENEWALS_PER_CLAIM);
      try {
        return await turn();
      } finally {
        clearInterval(renewing);
      }
    },
    release: async () => void (await release!(redis, [key], [self]).catch(() => undefined)),
  };
}
