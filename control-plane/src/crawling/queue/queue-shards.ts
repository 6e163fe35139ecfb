import { createHash } from 'node:crypto';
import type { RedisClient } from '../../platform/redis.ts';
import type { WakeHub } from '../../platform/wake-hub.ts';

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

/**
 * The keys of one of `shards` shards (shared/src/lease/PROTOCOL.md). The hash tag keeps them in one slot of a Redis Cluster; it names the
 * number of shards, so that another number begins with an empty index, which is rebuilt.
 */
export function shardKeys(shard: number, shards = 1) {
  const prefix = `{q${shard}of${shards}}:`;
  return {
    /** What every key of the shard begins with; scripts build the keys below from it. */
    prefix,
    job: (jobId: string) => `${prefix}job:${jobId}`,
    waiting: (organizationId: string, band: Band) => `${prefix}waiting:${band}:${organizationId}`,
    band: (band: Band) => `${prefix}waiting:${band}`,
    turns: (organizationId: string) => `${prefix}turns:${organizationId}`,
    leases: (organizationId: string) => `${prefix}leases:${organizationId}`,
    node: (node: string) => `${prefix}node:${node}`,
    ring: `${prefix}ring`,
    caps: `${prefix}caps`,
    delayed: `${prefix}delayed`,
    leased: `${prefix}leased`,
    fence: `${prefix}fence`,
    adopting: `${prefix}adopting`,
    adopted: `${prefix}adopted`,
  };
}

export type ShardKeys = ReturnType<typeof shardKeys>;

/** Which of an organization's queues a job waits in: 0 interactive, for scans a person waits for, 1 bulk, 2 campaigns. */
export type Band = 0 | 1 | 2;
/** All bands, the one that goes first first. */
export const BANDS: readonly Band[] = [0, 1, 2];

/** How metrics call the bands. */
export const NAME_OF_BAND: Record<Band, string> = { 0: 'interactive', 1: 'bulk', 2: 'campaign' };

/** The shard of an organization: all its jobs are in one, so that its turn is kept in one place. */
export function shardOf(organizationId: string, shards: number): number {
  return createHash('sha1').update(organizationId).digest().readUInt32BE(0) % shards;
}

/** A leased job: `fence` grows with every lease that is given in a shard. */
export type LeaseRef = { jobId: string; fence: number; organizationId: string };

/** A job's place in the queue. `delayMs` keeps it back, for a retry; below 0: it has been due for so long, and stands before later ones. */
export type WaitingJob = { jobId: string; organizationId: string; band: Band; delayMs: number };

/** How many leases an organization may have at once; null: as many as there are slots. */
export type LeaseCapOf = (organizationId: string) => Promise<number | null>;
