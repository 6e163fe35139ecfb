import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { Cluster, Redis } from 'ioredis';
import { addressOf, clusterOf, type RedisCluster } from './redis-url.ts';

/** Time limit of a command. While Redis is known to be unavailable, commands fail at once. */
const COMMAND_TIMEOUT_MS = 2_000;
const RECONNECT_MAX_MS = 1_000;

/** A Redis client; a cluster client has the same commands. */
export type RedisClient = Redis;

/**
 * A connection to `url` (`redis://`, `rediss://` or `unix:///path`; `redis+cluster://` and `rediss+cluster://` name one
 * node of a Redis Cluster or several, separated by commas). Returns before it is connected, and reconnects for ever.
 * While Redis is unavailable, each command fails within two seconds, and the outage is logged once.
 */
export function openRedis(url: string, logger: Logger): RedisClient {
  const cluster = clusterOf(url);
  const redis = cluster ? openCluster(cluster) : new Redis({ ...addressOf(url), ...CONNECTION, retryStrategy });
  logOutages(redis, logger);
  return redis;
}

const CONNECTION = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: COMMAND_TIMEOUT_MS,
};
const retryStrategy = (times: number) => Math.min(50 * times, RECONNECT_MAX_MS);

/** A cluster client can be used like a single client, because all keys of a call are in one hash slot. */
function openCluster({ nodes, ...own }: RedisCluster): RedisClient {
  const redisOptions = { ...own, ...CONNECTION };
  const cluster = new Cluster(nodes, { redisOptions, enableOfflineQueue: false, clusterRetryStrategy: retryStrategy });
  return cluster as unknown as RedisClient;
}

/** The servers that hold keys: the single server, or the masters of a cluster. */
export function serversOf(redis: RedisClient): RedisClient[] {
  return redis.isCluster ? (redis as unknown as Cluster).nodes('master') : [redis];
}

/** Resolves when Redis can take commands, or rejects after `ms`. */
export async function redisReady(redis: RedisClient, ms: number): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`Redis did not answer within ${ms} ms`)), ms);
  redis.once('ready', resolve);
  await promise.finally(() => {
    clearTimeout(timer);
    redis.off('ready', resolve);
  });
}

/** Errors of commands and scripts that meet a key of another type, or with another kind of value, than they expect. */
const MALFORMED = /WRONGTYPE|is not an integer|not a valid float|attempt to|bad argument/;

/** Whether a command failed because of what a key holds. It fails again until that key is removed. */
export const isMalformed = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ReplyError' && MALFORMED.test(error.message);

/** Removes `key` if a command failed because of what it holds. Only for keys whose loss nobody notices. */
export async function removeMalformed(redis: RedisClient, key: string, error: unknown): Promise<void> {
  // If Redis fails now, the command fails again later.
  if (isMalformed(error)) await redis.unlink(key).catch(() => undefined);
}

/** Runs a Lua script by its hash, and sends its text only if Redis does not know it (after a restart or a flush). */
export type Script = (redis: RedisClient, keys: string[], args: (string | number)[]) => Promise<unknown>;

/** Loads a script from files, whose texts follow one another. */
export function loadScript(...files: URL[]): Script {
  const text = files.map((file) => readFileSync(file, 'utf8')).join('');
  const hash = createHash('sha1').update(text).digest('hex');
  return async (redis, keys, args) => {
    try {
      return await redis.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(text, keys.length, ...keys, ...args);
    }
  };
}

function logOutages(redis: RedisClient, logger: Logger): void {
  let isUnavailable = false;
  const reportOutage = (cause?: unknown) => {
    if (!isUnavailable) logger.warn({ cause }, 'Redis is unavailable');
    isUnavailable = true;
  };
  redis.on('error', reportOutage);
  redis.on('reconnecting', () => reportOutage());
  redis.on('ready', () => {
    if (isUnavailable) logger.info('Redis is available again');
    isUnavailable = false;
  });
}
