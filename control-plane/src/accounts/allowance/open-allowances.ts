import type { Store } from '../../platform/store.ts';
import type { InternalLedger } from '../billing/internal-ledger.ts';
import type { Quotas } from '../organizations/quotas.ts';
import { allowanceStore } from './allowance-store.ts';
import { followLedger } from './follow-ledger.ts';
import { checkReservations } from './reserve-checks.ts';
import { startBalance } from './start-balance.ts';

export type AllowanceParts = {
  store: Store;
  ledger: InternalLedger;
  quotasOf: (organizationId: string) => Promise<Readonly<Quotas>>;
  /** The starting balance of an organization, in micros; null: no balance is enforced. */
  startBalanceMicros: number | null;
};

/** What organizations may still use: checks of this month, and balance. */
export function openAllowances({ store, ledger, quotasOf, startBalanceMicros }: AllowanceParts) {
  const allowances = allowanceStore(store);
  /** Adds what the ledger has booked for an organization, charges aside. */
  const follow = (organizationId: string) => followLedger({ ledger, allowances }, organizationId);
  const grantStart = startBalance({ ledger, follow }, startBalanceMicros);
  const limitsOf = async (organizationId: string) => ({
    checks_per_month: (await quotasOf(organizationId)).checks_per_month,
    hasBalance: startBalanceMicros !== null,
  });
  return {
    ...checkReservations({ allowances, limitsOf, grantStart }),
    allowances,
    follow,

    /** What an organization has used, its balance to begin with included. */
    async read(organizationId: string) {
      await grantStart(organizationId);
      const [allowance, limits] = await Promise.all([allowances.read(organizationId), limitsOf(organizationId)]);
      return { allowance, limits };
    },
  };
}
