import assert from 'node:assert/strict';
import { crawlQueue, type QueueOptions } from '../../src/crawling/queue/queue.ts';
import type { LeaseRef } from '../../src/crawling/queue/queue-shards.ts';
import { type PriorityClass, shardKeys } from '../../src/crawling/queue/queue-shards.ts';
import { startRedis } from './private-redis.ts';

/** The keys of a queue of one shard. */
export const keys = shardKeys(0);

const LASTING: ReadonlySet<string> = new Set([keys.fence, keys.clock, keys.spent, keys.lost, keys.means]);

export const idsOf = (refs: LeaseRef[]): string[] => refs.map(({ jobId }) => jobId);

/** A queue of one shard on a Redis of its own. */
export async function startQueue(options: QueueOptions = {}) {
  const redis = await startRedis();
  const queue = crawlQueue(redis.client, options);
  const take = (max: number) => queue.take('node', max, 256);
  return {
    redis,
    queue,
    take,
    enqueue: (jobId: string, organizationId = 'org', priority: PriorityClass = 0, delayMs = 0) =>
      queue.enqueue({ jobId, organizationId, priority, delayMs }),

    async takeOne(): Promise<LeaseRef> {
      const [ref] = await take(1);
      assert.ok(ref);
      return ref;
    },

    /** Makes a lease's deadline, or a delayed job's due time, lie in the past. */
    expire: (sortedSet: string, jobId: string) => redis.client.zadd(sortedSet, 'XX', 1, jobId),

    /**
     * All keys but those that outlive the last job: its fence, the slot time of organizations, the losses of nodes, and
     * how long jobs take.
     */
    everything: async () => (await redis.client.keys('*')).filter((key) => !LASTING.has(key)).sort(),
  };
}
