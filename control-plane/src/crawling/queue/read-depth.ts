import type { RedisClient } from '../../platform/redis.ts';
import { queueScript } from './queue-script.ts';
import { PRIORITY_CLASSES, type PriorityClass, type ShardKeys } from './queue-shards.ts';

/** Number of jobs in each state. */
export type QueueDepth = { waiting: Record<PriorityClass, number>; delayed: number; leased: number };
/** Seconds that the last jobs of each priority class were leased for in the mean; null: none has ended. */
export type JobSeconds = Record<PriorityClass, number | null>;
/**
 * Depth and seconds. `capped`: number of waiting jobs by priority class that cannot be leased before a lease of their
 * organization ends, if it gets those of the first classes first. `running`: the leased jobs by priority class, of many
 * an estimate.
 */
export type QueueLoad = QueueDepth & {
  capped: Record<PriorityClass, number>;
  running: Record<PriorityClass, number>;
  seconds: JobSeconds;
};

/** Leased jobs of a shard whose class is looked up; others are assumed to be alike. */
const LOOKED_UP_MAX = 1_000;
const leasedByClass = queueScript('leased-by-class');

/** Counts the jobs of all shards. The cost does not depend on their number. */
export async function readDepth(redis: RedisClient, shards: ShardKeys[]): Promise<QueueDepth> {
  const count = async (keyOf: (keys: ShardKeys) => string): Promise<number> => {
    return sum(await Promise.all(shards.map((keys) => redis.zcard(keyOf(keys)))));
  };
  const [waiting, delayed, leased] = await Promise.all([
    Promise.all(PRIORITY_CLASSES.map((priority) => count((keys) => keys.waitingOfAll(priority)))),
    count((keys) => keys.delayed),
    count((keys) => keys.leased),
  ]);
  return { waiting: byClass(waiting), delayed, leased };
}

/**
 * Counts jobs, and those beyond their organization's cap. The cost grows with the number of organizations that have a
 * cap.
 */
export async function readLoad(redis: RedisClient, shards: ShardKeys[]): Promise<QueueLoad> {
  const beyondCap = async ({ leases, waiting }: ShardKeys, organizationId: string, cap: number): Promise<number[]> => {
    const queues = PRIORITY_CLASSES.map((priority) => waiting(organizationId, priority));
    const [leased, ...counts] = await Promise.all([leases(organizationId), ...queues].map((key) => redis.zcard(key)));
    let left = Math.max(0, cap - leased!);
    return counts.map((count) => {
      const leasable = Math.min(count, left);
      left -= leasable;
      return count - leasable;
    });
  };
  const beyondCaps = async (keys: ShardKeys): Promise<number[][]> => {
    const caps = Object.entries(await redis.hgetall(keys.caps));
    return Promise.all(caps.map(([organizationId, cap]) => beyondCap(keys, organizationId, Number(cap))));
  };
  const [depth, ofOrganizations, classes, seconds] = await Promise.all([
    readDepth(redis, shards),
    Promise.all(shards.map(beyondCaps)),
    Promise.all(shards.map(({ leased, prefix }) => leasedByClass(redis, [leased], [prefix, LOOKED_UP_MAX]))),
    readSeconds(redis, shards),
  ]);
  const capped = byClass(PRIORITY_CLASSES.map((priority) => sum(ofOrganizations.flat().map((one) => one[priority]!))));
  return { ...depth, capped, running: runningOf(depth.leased, classes as number[][]), seconds };
}

/** `leased` jobs, distributed like those that were looked up in each shard. */
function runningOf(leased: number, classes: number[][]): Record<PriorityClass, number> {
  const found = sum(classes.flat());
  const of = (priority: PriorityClass) =>
    found === 0 ? 0 : (leased * sum(classes.map((counts) => counts[priority]!))) / found;
  return byClass(PRIORITY_CLASSES.map(of));
}

/** The means of the shards that have one; each counts alike. */
async function readSeconds(redis: RedisClient, shards: ShardKeys[]): Promise<JobSeconds> {
  const fields = PRIORITY_CLASSES.map(String);
  const rows = await Promise.all(shards.map((keys) => redis.hmget(keys.means, ...fields)));
  const means = fields.map((_, at) => {
    const known = rows.flatMap((row) => (Number(row[at]) > 0 ? [Number(row[at]) / 1000] : []));
    return known.length === 0 ? null : sum(known) / known.length;
  });
  return byClass(means);
}

/** Values in the order of {@link PRIORITY_CLASSES}, by class. */
const byClass = <T>(values: readonly T[]): Record<PriorityClass, T> => ({
  0: values[0]!,
  1: values[1]!,
  2: values[2]!,
});

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

/**
 * The jobs of an organization: waiting by priority class, and leased; `cap`: how many may be leased at once, null: any
 * number.
 */
export type OrganizationDepth = {
  organizationId: string;
  waiting: Record<PriorityClass, number>;
  leased: number;
  cap: number | null;
};

/**
 * The organizations that have waiting jobs, and those with a cap that have leased ones, those with most waiting jobs
 * first. The cost grows with the number of organizations that wait or have a cap.
 */
export async function readOrganizations(redis: RedisClient, shards: ShardKeys[]): Promise<OrganizationDepth[]> {
  const depthOf = async ({ waiting, leases }: ShardKeys, organizationId: string, cap: string | undefined) => {
    const queues = PRIORITY_CLASSES.map((priority) => waiting(organizationId, priority));
    const keys = [leases(organizationId), ...queues];
    const [leased, ...counts] = await Promise.all(keys.map((key) => redis.zcard(key)));
    const depth: OrganizationDepth = {
      organizationId,
      waiting: byClass(counts),
      leased: leased!,
      cap: cap === undefined ? null : Number(cap),
    };
    return depth;
  };
  const inShard = async (keys: ShardKeys) => {
    // Organizations at their cap are not in the round-robin set.
    const [waiting, caps] = await Promise.all([redis.zrange(keys.roundRobin, '0', '-1'), redis.hgetall(keys.caps)]);
    return Promise.all([...new Set([...waiting, ...Object.keys(caps)])].map((id) => depthOf(keys, id, caps[id])));
  };
  const found = (await Promise.all(shards.map(inShard))).flat();
  const all = ({ waiting }: OrganizationDepth) => sum(Object.values(waiting));
  return found
    .filter((one) => all(one) + one.leased > 0)
    .sort((one, other) => all(other) - all(one) || (one.organizationId < other.organizationId ? -1 : 1));
}

/**
 * Age in seconds (by the clock of Redis) of the oldest job of each priority class that waits for a node; 0: none does.
 * Jobs of an organization at its cap wait for one of its own leases to end, and do not count. While there is such an
 * organization, the cost grows with the number of organizations that wait.
 */
export async function readOldest(redis: RedisClient, shards: ShardKeys[]): Promise<Record<PriorityClass, number>> {
  const [[seconds], queues] = await Promise.all([
    redis.time(),
    Promise.all(shards.map((keys) => leasableQueues(redis, keys))),
  ]);
  const oldestIn = async (priority: PriorityClass): Promise<number> => {
    const keys = queues.flatMap((queuesOf) => queuesOf(priority));
    const heads = await Promise.all(keys.map((key) => redis.zrange(key, '0', '0', 'WITHSCORES')));
    const since = heads.flatMap(([, micros]) => (micros === undefined ? [] : [Number(micros) / 1e6]));
    return since.length === 0 ? 0 : Math.max(0, Number(seconds) - Math.min(...since));
  };
  return byClass(await Promise.all(PRIORITY_CLASSES.map(oldestIn)));
}

/** The keys that together have the waiting jobs of a shard's organizations below their cap. */
async function leasableQueues(redis: RedisClient, keys: ShardKeys): Promise<(priority: PriorityClass) => string[]> {
  const caps = Object.entries(await redis.hgetall(keys.caps));
  const leased = await Promise.all(caps.map(([organizationId]) => redis.zcard(keys.leases(organizationId))));
  const atCap = new Set(
    caps.flatMap(([organizationId, cap], at) => (leased[at]! >= Number(cap) ? [organizationId] : [])),
  );
  if (atCap.size === 0) return (priority) => [keys.waitingOfAll(priority)];
  // An organization at its cap leaves the round-robin set when its turn comes.
  const waiting = (await redis.zrange(keys.roundRobin, '0', '-1')).filter(
    (organizationId) => !atCap.has(organizationId),
  );
  return (priority) => waiting.map((organizationId) => keys.waiting(organizationId, priority));
}
