import { loadScript, serversOf } from '../../platform/redis.ts';
import type { QueueShards } from './queue-shards.ts';

const SCANNED_AT_ONCE = 1_000;

const limit = loadScript(new URL('scripts/limit.lua', import.meta.url));

/** What keeps the index in line with MongoDB and the settings: caps, adoption after a loss of data, and the number of shards. */
export function queueUpkeep({ redis, all, leaseCapOf, announce }: QueueShards) {
  return {
    /** Applies changed caps of all organizations that have one or have work. */
    async refreshCaps(): Promise<void> {
      for (const { prefix, ring, fence, caps } of all) {
        const organizations = new Set((await Promise.all([redis.hkeys(caps), redis.zrange(ring, '0', '-1')])).flat());
        for (const organizationId of organizations) {
          const cap = (await leaseCapOf(organizationId)) ?? '';
          announce(Number(await limit(redis, [ring, fence, caps], [prefix, organizationId, cap])));
        }
      }
    },

    /**
     * Whether every lease that MongoDB names was made known since Redis last lost its data. Until then organizations with a cap are leased
     * nothing, because nobody knows how many leases they have.
     */
    async isAdopted(): Promise<boolean> {
      const found = await Promise.all(all.map(({ adopted }) => redis.exists(adopted)));
      return found.every((count) => count === 1);
    },

    /** Runs `adoptAll`, which makes every lease known, and notes that it was done; throws where Redis lost its data meanwhile. */
    async whileAdopting(adoptAll: () => Promise<void>): Promise<void> {
      await Promise.all(all.map(({ adopting }) => redis.set(adopting, '1')));
      await adoptAll();
      await Promise.all(all.map(({ adopting, adopted }) => redis.rename(adopting, adopted)));
    },

    /** Removes what another number of shards has left behind. */
    async removeOtherShards(): Promise<void> {
      const isOther = (key: string) => !all.some(({ prefix }) => key.startsWith(prefix));
      for (const server of serversOf(redis)) {
        let cursor = '0';
        do {
          const [next, found] = await server.scan(cursor, 'MATCH', '{q*}:*', 'COUNT', SCANNED_AT_ONCE);
          for (const key of found.filter(isOther)) await redis.unlink(key);
          cursor = next;
        } while (cursor !== '0');
      }
    },
  };
}
