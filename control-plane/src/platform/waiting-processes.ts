import { loadScript, type RedisClient } from './redis.ts';
import { WAKE_TOPICS, type WakeTopic } from './wake-topic.ts';

/** A process counts as one in which somebody waits for this long after it was listed, and is listed again in time. */
const LISTED_MS = 15_000;
export const LIST_AGAIN_EVERY_MS = 5_000;

const waitingKey = (topic: WakeTopic): string => `adsweep:waiting:${topic}`;

const [awaitWork, wakeAnother] = ['await-work', 'wake-another'].map((name) =>
  loadScript(new URL(`scripts/${name}.lua`, import.meta.url)),
);

/** The list, in Redis, of the processes in which somebody waits, as process `self` sees it. Each listens on `channel` with its id behind it. */
export function waitingProcesses(redis: RedisClient, self: string, channel: string) {
  /** Until when this process is listed, by its own clock; a little less than Redis thinks. */
  const listedUntil = { jobs: 0, checks: 0, outbox: 0 };

  return {
    isListed: (topic: WakeTopic): boolean => performance.now() < listedUntil[topic],

    /** Lists this process; answers whether Redis took it. */
    async list(topic: WakeTopic): Promise<boolean> {
      const until = performance.now() + LISTED_MS - LIST_AGAIN_EVERY_MS / 2;
      try {
        await awaitWork!(redis, [waitingKey(topic)], [self, LISTED_MS]);
      } catch {
        return false;
      }
      listedUntil[topic] = until;
      return true;
    },

    /** What the list says of this process is no longer known. */
    forget(): void {
      for (const topic of WAKE_TOPICS) listedUntil[topic] = 0;
    },

    /** Asks others to wake `count`; nobody waits here. */
    async wakeOthers(topic: WakeTopic, count: number): Promise<void> {
      listedUntil[topic] = 0;
      const receivers = redis.isCluster ? 0 : 1;
      await wakeAnother!(redis, [waitingKey(topic)], [self, channel, `${topic} ${count}`, receivers]).catch(
        () => undefined,
      );
    },
  };
}
