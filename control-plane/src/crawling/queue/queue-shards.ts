import { createHash } from 'node:crypto';
import type { RedisClient } from '../../platform/redis.ts';
import type { WakeHub } from '../../platform/wake-hub.ts';

export type WorkHints = Pick<WakeHub, 'signal' | 'announce' | 'isConnected'>;

/**
 * What the operations of the queue share: its shards in Redis, the caps of organizations, and the signal to waiting
 * nodes.
 */
export type QueueShards = {
  redis: RedisClient;
  /** The keys of each shard, by its number. */
  all: ShardKeys[];
  numberOf(organizationId: string): number;
  keysFor(organizationId: string): ShardKeys;
  leaseCapOf: LeaseCapOf;
  /** Wakes one waiting node per job. */
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
 * The keys of one of `shards` shards (shared/src/lease/PROTOCOL.md). The hash tag keeps them in one slot of a Redis
 * Cluster. It contains the number of shards, so that the index starts empty, and is rebuilt, when that number changes.
 * `ring` and `band` are names of earlier versions that running farms have in Redis.
 */
export function shardKeys(shard: number, shards = 1) {
  const prefix = `{q${shard}of${shards}}:`;
  return {
    /** The common prefix, from which scripts build the keys below. */
    prefix,
    job: (jobId: string) => `${prefix}job:${jobId}`,
    /** Waiting jobs of an organization. */
    waiting: (organizationId: string, priority: PriorityClass) => `${prefix}waiting:${priority}:${organizationId}`,
    /** Waiting jobs of all organizations. */
    waitingOfAll: (priority: PriorityClass) => `${prefix}waiting:${priority}`,
    turns: (organizationId: string) => `${prefix}turns:${organizationId}`,
    leases: (organizationId: string) => `${prefix}leases:${organizationId}`,
    node: (node: string) => `${prefix}node:${node}`,
    roundRobin: `${prefix}ring`,
    caps: `${prefix}caps`,
    delayed: `${prefix}delayed`,
    leased: `${prefix}leased`,
    fence: `${prefix}fence`,
    /** Slot time at which an organization begins that joins the round-robin set: that of the one served last. */
    clock: `${prefix}clock`,
    /** Slot time of organizations that are not in the round-robin set and are ahead of the clock. */
    spent: `${prefix}spent`,
    /** The losses in a row of nodes, by their names, and when the last one was. */
    lost: `${prefix}lost`,
    /** Mean of the milliseconds that jobs were leased for, by priority class. */
    means: `${prefix}means`,
    adopting: `${prefix}adopting`,
    adopted: `${prefix}adopted`,
  };
}

export type ShardKeys = ReturnType<typeof shardKeys>;

/** The type in Redis of a key of a shard. `key` is without the shard's prefix. */
export function typeOfKey(key: string): 'hash' | 'string' | 'zset' {
  if (['caps', 'means', 'lost'].includes(key) || key.startsWith('job:')) return 'hash';
  return ['fence', 'clock', 'adopting', 'adopted'].includes(key) || key.startsWith('turns:') ? 'string' : 'zset';
}

/**
 * Priority of a job among those of its organization: 0 interactive (single scans), 1 bulk, 2 campaigns. Stored as
 * `band`.
 */
export type PriorityClass = 0 | 1 | 2;
/** All priority classes, highest first. */
export const PRIORITY_CLASSES: readonly PriorityClass[] = [0, 1, 2];

/** The shard of an organization. All its jobs are in one shard, which keeps its turn. */
export function shardOf(organizationId: string, shards: number): number {
  return createHash('sha1').update(organizationId).digest().readUInt32BE(0) % shards;
}

/** A leased job. `fence` grows with every lease of the shard. */
export type LeaseRef = { jobId: string; fence: number; organizationId: string };

/**
 * A job to be queued. `delayMs`: time until it is due, for retries; negative: it was due that long ago, and precedes
 * jobs due later.
 */
export type WaitingJob = { jobId: string; organizationId: string; priority: PriorityClass; delayMs: number };

/** Maximum number of concurrent leases of an organization; null: unlimited. */
export type LeaseCapOf = (organizationId: string) => Promise<number | null>;
