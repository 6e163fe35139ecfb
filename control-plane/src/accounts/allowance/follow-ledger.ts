import type { InternalLedger } from '../billing/internal-ledger.ts';
import type { AllowanceStore } from './allowance-store.ts';

export type FollowParts = {
  ledger: Pick<InternalLedger, 'creditsAfter'>;
  allowances: Pick<AllowanceStore, 'read' | 'create' | 'credit'>;
};

const ENTRIES_AT_ONCE = 100;

/**
 * Adds the credits and refunds of an organization's ledger to its allowance, each once: an allowance knows the number of the last entry
 * that is in it. Charges are left out, for they were counted when their checks were reserved.
 */
export async function followLedger({ ledger, allowances }: FollowParts, organizationId: string): Promise<void> {
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
