import { isMalformed, type RedisClient, serversOf } from '../../platform/redis.ts';
import { type QueueShards, typeOfKey } from './queue-shards.ts';

/**
 * Set by the process whose operation failed because of what a key holds; the process that refills the index looks for
 * it.
 */
const MARK = 'adsweep:queue:malformed';
const SCANNED_AT_ONCE = 1_000;

/** The keys of all shards, page by page. */
export async function* pagesOfKeys(redis: RedisClient): AsyncGenerator<string[]> {
  for (const server of serversOf(redis)) {
    let cursor = '0';
    do {
      const [next, found] = await server.scan(cursor, 'MATCH', '{q*}:*', 'COUNT', SCANNED_AT_ONCE);
      yield found;
      cursor = next;
    } while (cursor !== '0');
  }
}

/** The same operations; those that fail because of what a key holds leave the mark. */
export function notingMalformed<Operations extends object>(redis: RedisClient, operations: Operations): Operations {
  const note = async (error: unknown): Promise<never> => {
    // If Redis fails now, the operation fails again later, and leaves the mark then.
    if (isMalformed(error)) await redis.set(MARK, '1').catch(() => undefined);
    throw error;
  };
  const noting = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: unknown[]) => {
      const result: unknown = operation(...args);
      return result instanceof Promise ? result.catch(note) : result;
    },
  ]);
  return Object.fromEntries(noting) as Operations;
}

export function malformedIndex({ redis, all }: QueueShards) {
  const isWrong = async (key: string): Promise<boolean> => {
    const name = key.slice(key.indexOf(':') + 1);
    const type = await redis.type(key);
    if (type === 'none') return false;
    if (type !== typeOfKey(name)) return true;
    return (
      (['fence', 'clock'].includes(name) || name.startsWith('turns:')) &&
      !/^\d{1,16}$/.test((await redis.get(key)) ?? '0')
    );
  };

  /** Removes the keys that `isUnwanted` names; returns how many. */
  const remove = async (isUnwanted: (key: string) => Promise<boolean>): Promise<number> => {
    let removed = 0;
    for await (const found of pagesOfKeys(redis)) {
      const own = found.filter((key) => all.some(({ prefix }) => key.startsWith(prefix)));
      const unwanted = await Promise.all(own.map(isUnwanted));
      for (const key of own.filter((_, at) => unwanted[at])) removed += await redis.unlink(key);
    }
    return removed;
  };

  return {
    /**
     * If an operation has failed because of what a key holds, removes the keys whose type or number is wrong, or all
     * keys of the index where none is: then the contents of a job are wrong. Returns how many were removed; the whole
     * index must be rebuilt then.
     */
    async removeMalformed(): Promise<number> {
      if ((await redis.del(MARK)) === 0) return 0;
      const malformed = await remove(isWrong);
      return malformed > 0 ? malformed : remove(async () => true);
    },
  };
}
