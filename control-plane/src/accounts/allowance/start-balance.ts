import type { InternalLedger } from '../billing/internal-ledger.ts';

export type StartParts = { ledger: Pick<InternalLedger, 'book'>; follow: (organizationId: string) => Promise<void> };

/**
 * Books an organization's starting balance once, even if the setting changes later. `amountMicros` null: there is none.
 */
export function startBalance({ ledger, follow }: StartParts, amountMicros: number | null) {
  const granted = new Set<string>();

  return async (organizationId: string): Promise<void> => {
    if (amountMicros === null || granted.has(organizationId)) return;
    await ledger.book({
      _id: `initial_balance:${organizationId}`,
      organization_id: organizationId,
      type: 'initial_balance',
      amount_micros: amountMicros,
      description: 'Balance to begin with',
      reference_kind: null,
      reference_id: null,
      created_at: new Date(),
    });
    await follow(organizationId);
    granted.add(organizationId);
  };
}
