import type { RedisClient } from '../../platform/redis.ts';
import { BANDS, type Band, type ShardKeys } from './queue-shards.ts';

/** How many jobs are in each state. */
export type QueueDepth = { waiting: Record<Band, number>; delayed: number; leased: number };
/** The same; `capped`: of the waiting jobs, those that cannot be leased before a lease of their own organization ends. */
export type QueueLoad = QueueDepth & { capped: number };

/** Counts jobs over all shards, at the same cost however many there are. */
export async function readDepth(redis: RedisClient, shards: ShardKeys[]): Promise<QueueDepth> {
  const count = async (keyOf: (keys: ShardKeys) => string): Promise<number> => {
    return sum(await Promise.all(shards.map((keys) => redis.zcard(keyOf(keys)))));
  };
  const [interactive, bulk, campaigns, delayed, leased] = await Promise.all([
    ...BANDS.map((band) => count((keys) => keys.band(band))),
    count((keys) => keys.delayed),
    count((keys) => keys.leased),
  ]);
  return { waiting: { 0: interactive!, 1: bulk!, 2: campaigns! }, delayed: delayed!, leased: leased! };
}

/** Counts jobs, and those beyond the caps of their organizations: the cost grows with the organizations that have a cap. */
export async function readLoad(redis: RedisClient, shards: ShardKeys[]): Promise<QueueLoad> {
  const beyondCap = async ({ leases, waiting }: ShardKeys, organizationId: string, cap: number): Promise<number> => {
    const queues = BANDS.map((band) => waiting(organizationId, band));
    const [leased, ...counts] = await Promise.all([leases(organizationId), ...queues].map((key) => redis.zcard(key)));
    return Math.max(0, sum(counts) - Math.max(0, cap - leased!));
  };
  const beyondCaps = async (keys: ShardKeys): Promise<number> => {
    const caps = Object.entries(await redis.hgetall(keys.caps));
    return sum(await Promise.all(caps.map(([organizationId, cap]) => beyondCap(keys, organizationId, Number(cap)))));
  };
  const [depth, capped] = await Promise.all([readDepth(redis, shards), Promise.all(shards.map(beyondCaps)).then(sum)]);
  return { ...depth, capped };
}

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

/** For how many seconds the oldest waiting job of each band has waited, by Redis' clock; 0: none waits. */
export async function readOldest(redis: RedisClient, shards: ShardKeys[]): Promise<Record<Band, number>> {
  const [seconds] = await redis.time();
  const oldestIn = async (band: Band): Promise<number> => {
    const heads = await Promise.all(shards.map((keys) => redis.zrange(keys.band(band), '0', '0', 'WITHSCORES')));
    const since = heads.flatMap(([, micros]) => (micros === undefined ? [] : [Number(micros) / 1e6]));
    return since.length === 0 ? 0 : Math.max(0, Number(seconds) - Math.min(...since));
  };
  const [interactive, bulk, campaigns] = await Promise.all(BANDS.map(oldestIn));
  return { 0: interactive!, 1: bulk!, 2: campaigns! };
}
