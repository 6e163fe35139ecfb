import type { RedisClient } from '../../platform/redis.ts';
import type { WakeHub } from '../../platform/wake-hub.ts';
import { type ShardKeys, shardKeys, shardOf } from './keys.ts';
import type { LeaseCapOf } from './queued-job.ts';

export type WorkHints = Pick<WakeHub, 'signal' | 'announce' | 'isConnected'>;

/** What all operations of the queue share: its shards in Redis, the caps of organizations, and how waiting nodes are woken. */
export type QueueShards = {
  redis: RedisClient;
  /** The keys of each shard, by its number. */
  all: ShardKeys[];
  numberOf(organizationId: string): number;
  keysFor(organizationId: string): ShardKeys;
  leaseCapOf: LeaseCapOf;
  /** Wakes a waiting node for each of so many jobs. */
  announce(jobs: number): void;
};

export function queueShards(redis: RedisClient, shards: number, wake: WorkHints, leaseCapOf: LeaseCapOf): QueueShards {
  const all = Array.from({ length: shards }, (_, shard) => shardKeys(shard, shards));
  const numberOf = (organizationId: string) => shardOf(organizationId, shards);
  return {
    redis,
    all,
    numberOf,
    keysFor: (organizationId) => all[numberOf(organizationId)]!,
    leaseCapOf,
    announce(jobs) {
      for (let count = 0; count < jobs; count += 1) wake.announce('jobs');
    },
  };
}
