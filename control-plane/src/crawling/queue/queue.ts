import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { singleProcessHints } from '../../platform/wake-hub.ts';
import { leasedJobs } from './leased-jobs.ts';
import { malformedIndex, notingMalformed } from './malformed-index.ts';
import { type LeaseCapOf, type PriorityClass, queueShards, type WorkHints } from './queue-shards.ts';
import { queueUpkeep } from './queue-upkeep.ts';
import {
  type OrganizationDepth,
  type QueueDepth,
  type QueueLoad,
  readDepth,
  readLoad,
  readOldest,
  readOrganizations,
} from './read-depth.ts';
import { waitingJobs } from './waiting-jobs.ts';

/** `shards`: the number of queues that organizations are distributed over, the same in all processes. */
export type QueueOptions = { shards?: number | undefined; wake?: WorkHints; leaseCapOf?: LeaseCapOf };

/** The index of crawl jobs in Redis (shared/src/lease/PROTOCOL.md). Every call rejects while Redis is unavailable. */
export type CrawlQueue = ReturnType<typeof crawlQueue>;

/** Polling interval of a waiting node, in ms: long while wake-up hints of other processes arrive. */
const POLL_EVERY_MS = { withHints: 10_000, withoutHints: 1_000 };

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

  return notingMalformed(redis, {
    ...waitingJobs(shards),
    ...leasedJobs(shards),
    ...queueUpkeep(shards),
    ...malformedIndex(shards),

    /** Number of the connection to Redis; it changes with each reconnection. */
    connection: (): number => connection,

    /** Resolves when a job may be waiting, after `ms`, or when it is time to poll. */
    waitForWork(ms: number, stop?: AbortSignal): Promise<void> {
      return work.wait(Math.min(ms, POLL_EVERY_MS[wake.isConnected() ? 'withHints' : 'withoutHints']), stop);
    },

    /** Number of jobs in each state. */
    depth: (): Promise<QueueDepth> => readDepth(redis, shards.all),

    /** The same, with the number of waiting jobs beyond their organization's cap. */
    load: (): Promise<QueueLoad> => readLoad(redis, shards.all),

    /** The jobs of each organization that waits, or has a cap and leased ones. */
    byOrganization: (): Promise<OrganizationDepth[]> => readOrganizations(redis, shards.all),

    /** Age in seconds of the oldest job of each priority class that waits for a node; 0: none does. */
    oldestWaiting: (): Promise<Record<PriorityClass, number>> => readOldest(redis, shards.all),
  });
}

const PROMOTE_EVERY_MS = 1_000;

/** Promotes delayed jobs when they are due. */
export function startPromoting({ queue, logger }: { queue: Pick<CrawlQueue, 'promote'>; logger: Logger }): Loop {
  return startLoop(logger, { name: 'promoting delayed jobs', everyMs: PROMOTE_EVERY_MS, step: () => queue.promote() });
}
