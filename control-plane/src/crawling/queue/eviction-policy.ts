import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { RedisClient } from '../../platform/redis.ts';

/**
 * Rejects if Redis may evict keys when its memory is full. Reads the policy from `INFO memory`, because managed services often forbid
 * `CONFIG GET`; a server that does not report its policy passes.
 */
export async function requireNoEviction(redis: Pick<RedisClient, 'info'>): Promise<void> {
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory')) ?? [];
  if (policy !== 'noeviction') throw new EvictionError(policy);
}

/** Warns at each connection to a Redis that may evict keys. */
export function warnOfEviction(redis: RedisClient, logger: Logger): void {
  const ask = () =>
    requireNoEviction(redis).catch((error: unknown) => {
      if (error instanceof EvictionError) logger.warn(error.message);
    });
  redis.on('ready', () => void ask());
  if (redis.status === 'ready') void ask();
}

class EvictionError extends Error {
  constructor(policy: string) {
    super(
      `Redis may throw away crawl jobs: its maxmemory-policy is ${policy}. Type: redis-cli config set maxmemory-policy noeviction ` +
        '(and set it in redis.conf or at your provider)',
    );
  }
}
