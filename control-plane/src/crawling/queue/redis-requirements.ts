import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';

/** The scripts call ZMPOP, which Redis has since 7.0; Valkey reports itself as 7 or newer. */
const MAJOR_VERSION = 7;

/**
 * Rejects if Redis is too old for the scripts of the queue: no job could be leased. A server that does not report its
 * version passes.
 */
export async function requireVersion(redis: Pick<RedisClient, 'info'>): Promise<void> {
  const [, version, major] = /^redis_version:((\d+)\S*)/m.exec(await redis.info('server')) ?? [];
  if (Number(major ?? MAJOR_VERSION) >= MAJOR_VERSION) return;
  throw new RequirementError(`Redis ${version} is too old for the queue, no node gets work: use Redis 7.0 or newer`);
}

/**
 * Rejects if Redis may evict keys when its memory is full. Reads the policy from `INFO memory`, because managed
 * services often forbid `CONFIG GET`; a server that does not report its policy passes.
 */
export async function requireNoEviction(redis: Pick<RedisClient, 'info'>): Promise<void> {
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory')) ?? [];
  if (policy === 'noeviction') return;
  throw new RequirementError(
    `Redis may throw away crawl jobs: its maxmemory-policy is ${policy}. Type: redis-cli config set maxmemory-policy noeviction ` +
      '(and set it in redis.conf or at your provider)',
  );
}

/** Warns at each connection to a Redis that is too old, or may evict keys. */
export function warnOfRedis(redis: RedisClient, logger: Logger): void {
  const warn = (error: unknown) => {
    if (error instanceof RequirementError) logger.warn(error.message);
  };
  const ask = () => {
    for (const require of [requireVersion, requireNoEviction]) void require(redis).catch(warn);
  };
  redis.on('ready', ask);
  if (redis.status === 'ready') ask();
}

class RequirementError extends Error {}
