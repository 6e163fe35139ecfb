import { insertOnce } from '../../../platform/insert-once.ts';
import type { Collection, Store } from '../../../platform/store.ts';

type Claim = { _id: string; until: Date };

/** Organizations with a running batch of rule tests, across all processes (spec 4.4: one at a time). */
export type BatchClaims = ReturnType<typeof batchClaimStore>;

export function batchClaimStore(store: Store) {
  const claims: Collection<Claim> = store.collection<Claim>('rule_test_batches');

  return {
    /**
     * Claims the organization's batch until `until`; false: one is running. An expired claim is that of a process that
     * ended.
     */
    async claim(organizationId: string, now: Date, until: Date): Promise<boolean> {
      if (await insertOnce(claims, { _id: organizationId, until })) return true;
      const expired = { _id: organizationId, until: { $lt: now } };
      return (await claims.updateOne(expired, { $set: { until } })).matchedCount === 1;
    },

    /** Releases the claim with this `until`. */
    async release(organizationId: string, until: Date): Promise<void> {
      await claims.deleteOne({ _id: organizationId, until });
    },
  };
}
