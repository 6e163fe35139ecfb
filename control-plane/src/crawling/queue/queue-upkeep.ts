import { pagesOfKeys } from './malformed-index.ts';
import { queueScript } from './queue-script.ts';
import type { QueueShards } from './queue-shards.ts';

const limit = queueScript('limit', 'has-waiting-jobs');

/**
 * Operations that align the index with MongoDB and the settings: caps, adoption after a loss of data, number of shards.
 */
export function queueUpkeep({ redis, all, leaseCapOf, announce }: QueueShards) {
  return {
    /** Applies changed caps of all organizations that have a cap or waiting jobs. */
    async refreshCaps(): Promise<void> {
      for (const { prefix, roundRobin, clock, caps } of all) {
        const organizations = new Set(
          (await Promise.all([redis.hkeys(caps), redis.zrange(roundRobin, '0', '-1')])).flat(),
        );
        for (const organizationId of organizations) {
          const cap = (await leaseCapOf(organizationId)) ?? '';
          announce(Number(await limit(redis, [roundRobin, clock, caps], [prefix, organizationId, cap])));
        }
      }
    },

    /**
     * Whether all leases in MongoDB were adopted since Redis last lost its data. Until then organizations with a cap
     * are leased nothing, because the number of their leases is unknown.
     */
    async isAdopted(): Promise<boolean> {
      const found = await Promise.all(all.map(({ adopted }) => redis.exists(adopted)));
      return found.every((count) => count === 1);
    },

    /**
     * Runs `adoptAll`, which adopts every lease, and records that it did; throws if Redis lost its data in the
     * meantime.
     */
    async whileAdopting(adoptAll: () => Promise<void>): Promise<void> {
      await Promise.all(all.map(({ adopting }) => redis.set(adopting, '1')));
      await adoptAll();
      await Promise.all(all.map(({ adopting, adopted }) => redis.rename(adopting, adopted)));
    },

    /** Removes the keys of other numbers of shards. */
    async removeOtherShards(): Promise<void> {
      const isOther = (key: string) => !all.some(({ prefix }) => key.startsWith(prefix));
      for await (const found of pagesOfKeys(redis)) for (const key of found.filter(isOther)) await redis.unlink(key);
    },
  };
}
