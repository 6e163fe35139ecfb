import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { singleProcessHints } from '../../platform/wake-hub.ts';
import { leasedJobs } from './leased-jobs.ts';
import { type Band, type LeaseCapOf, queueShards, type WorkHints } from './queue-shards.ts';
import { queueUpkeep } from './queue-upkeep.ts';
import { type QueueDepth, type QueueLoad, readDepth, readLoad, readOldest } from './read-depth.ts';
import { waitingJobs } from './waiting-jobs.ts';

/** `shards`: how many queues the organizations are spread over, the same number in all processes. */
export type QueueOptions = { shards?: number | undefined; wake?: WorkHints; leaseCapOf?: LeaseCapOf };

/** The index of crawl jobs in Redis (shared/src/lease/PROTOCOL.md). Every call rejects while Redis is away. */
export type CrawlQueue = ReturnType<typeof crawlQueue>;

/** How often a waiting node looks by itself, in ms: rarely where hints of other processes arrive. */
const LOOK_EVERY_MS = { withHints: 10_000, withoutHints: 1_000 };

export function crawlQueue(
  redis: RedisClient,
  { shards: count = 1, wake = singleProcessHints(), leaseCapOf = async () => null }: QueueOptions = {},
) {
  const shards = queueShards(redis, count, wake, leaseCapOf);
  const work = wake.signal('jobs');
  let connection = 0;
  redis.on('ready', () => {
    connection += 1;
  });

  return {
    ...waitingJobs(shards),
    ...leasedJobs(shards),
    ...queueUpkeep(shards),

    /** The number of the connection to Redis, another one after each time it was lost. */
    connection: (): number => connection,

    /** Resolves when a job may be waiting, or after `ms`. Without a hint it is time to look now and then. */
    waitForWork(ms: number, stop?: AbortSignal): Promise<void> {
      return work.wait(Math.min(ms, LOOK_EVERY_MS[wake.isConnected() ? 'withHints' : 'withoutHints']), stop);
    },

    /** How many jobs there are in each state. */
    depth: (): Promise<QueueDepth> => readDepth(redis, shards.all),

    /** The same, with how many of those that wait are beyond their organization's cap. */
    load: (): Promise<QueueLoad> => readLoad(redis, shards.all),

    /** For how many seconds the oldest waiting job of each band has waited; 0: none waits. */
    oldestWaiting: (): Promise<Record<Band, number>> => readOldest(redis, shards.all),
  };
}

const PROMOTE_EVERY_MS = 1_000;

/** Hands delayed jobs out when they are due: nodes that wait for work need not look for them. */
export function startPromoting({ queue, logger }: { queue: Pick<CrawlQueue, 'promote'>; logger: Logger }): Loop {
  return startLoop(logger, { name: 'promoting delayed jobs', everyMs: PROMOTE_EVERY_MS, step: () => queue.promote() });
}
