import type { Store } from '../../platform/store.ts';
import type { Quotas } from '../organizations/organization.ts';
import { type AllowanceStore, allowanceStore } from './allowance-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import { checkReservations } from './reserve-checks.ts';
import type { CountReserved } from './unused-checks.ts';

export type AllowanceParts = {
  store: Store;
  ledger: Pick<LedgerStore, 'book' | 'creditsAfter'>;
  quotasOf: (organizationId: string) => Promise<Readonly<Quotas>>;
  countReserved: CountReserved;
  /** Starting balance of an organization, in micros; null: balances are not enforced. */
  startBalanceMicros: number | null;
};

/** Reads and changes the allowances of organizations: checks per month, and balance. */
export function openAllowances({ store, ledger, quotasOf, countReserved, startBalanceMicros }: AllowanceParts) {
  const allowances = allowanceStore(store);
  /** Adds new credits and refunds of the ledger to an organization's allowance. */
  const follow = (organizationId: string) => followLedger({ ledger, allowances }, organizationId);
  const grantStart = startBalance({ ledger, follow }, startBalanceMicros);
  const limitsOf = async (organizationId: string) => ({
    checks_per_month: (await quotasOf(organizationId)).checks_per_month,
    hasBalance: startBalanceMicros !== null,
  });
  return {
    ...checkReservations({ allowances, countReserved, limitsOf, grantStart }),
    allowances,
    follow,

    /** Reads an organization's allowance and limits, after granting the starting balance. */
    async read(organizationId: string) {
      await grantStart(organizationId);
      const [allowance, limits] = await Promise.all([allowances.read(organizationId), limitsOf(organizationId)]);
      return { allowance, limits };
    },
  };
}

type FollowParts = {
  ledger: Pick<LedgerStore, 'creditsAfter'>;
  allowances: Pick<AllowanceStore, 'read' | 'create' | 'credit'>;
};

const ENTRIES_AT_ONCE = 100;

/**
 * Adds each credit and refund of an organization's ledger to its allowance once: the allowance stores the number of the
 * last entry that it includes. Charges are skipped, because their checks were counted when they were reserved.
 */
async function followLedger({ ledger, allowances }: FollowParts, organizationId: string): Promise<void> {
  await allowances.create(organizationId);
  for (;;) {
    const { ledger_through: after } = await allowances.read(organizationId);
    const entries = await ledger.creditsAfter(organizationId, after, ENTRIES_AT_ONCE);
    const last = entries.at(-1);
    if (!last) return;
    const months = entries.flatMap(({ check_month }) => check_month ?? []);
    const micros = entries.reduce((sum, { amount_micros }) => sum + amount_micros, 0);
    await allowances.credit(organizationId, { after, through: last.sequence }, months, micros);
  }
}

type StartParts = { ledger: Pick<LedgerStore, 'book'>; follow: (organizationId: string) => Promise<void> };

/**
 * Books an organization's starting balance once, also if the setting changes later. `amountMicros` null: there is none.
 */
function startBalance({ ledger, follow }: StartParts, amountMicros: number | null) {
  const granted = new Set<string>();

  return async (organizationId: string): Promise<void> => {
    if (amountMicros === null || granted.has(organizationId)) return;
    await ledger.book({
      _id: `initial_balance:${organizationId}`,
      organization_id: organizationId,
      type: 'initial_balance',
      amount_micros: amountMicros,
      description: 'Starting balance',
      reference_kind: null,
      reference_id: null,
      created_at: new Date(),
    });
    await follow(organizationId);
    granted.add(organizationId);
  };
}
