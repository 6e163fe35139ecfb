import type { RedisClient } from '../../platform/redis.ts';
import { BANDS, type Band, type ShardKeys } from './keys.ts';

/** How many jobs are in each state. */
export type QueueDepth = { waiting: Record<Band, number>; delayed: number; leased: number };

/** Counts jobs over all shards, at the same cost however many there are. */
export async function readDepth(redis: RedisClient, shards: ShardKeys[]): Promise<QueueDepth> {
  const count = async (keyOf: (keys: ShardKeys) => string): Promise<number> => {
    const counts = await Promise.all(shards.map((keys) => redis.zcard(keyOf(keys))));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  const [interactive, bulk, campaigns, delayed, leased] = await Promise.all([
    ...BANDS.map((band) => count((keys) => keys.band(band))),
    count((keys) => keys.delayed),
    count((keys) => keys.leased),
  ]);
  return { waiting: { 0: interactive!, 1: bulk!, 2: campaigns! }, delayed: delayed!, leased: leased! };
}

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
