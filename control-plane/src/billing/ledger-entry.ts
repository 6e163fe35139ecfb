/** Kinds of money motions. The list is open: clients take an unknown one as a motion of its signed amount (spec 7.2). */
export const LEDGER_TYPES = [
  'initial_balance',
  'top_up_manual',
  'usage_charge',
  'subscription_renewal',
  'subscription_upgrade',
  'admin_adjustment',
  'refund',
  'invoice_settlement',
  'invoice_payment_adjustment',
  'crypto_top_up',
  'card_top_up',
] as const;
export type LedgerType = (typeof LEDGER_TYPES)[number];

/** One signed money motion in micros. Entries are only ever added; `_id` follows from what caused it (`charge:<scan>`). */
export type LedgerRecord = {
  _id: string;
  organization_id: string;
  type: LedgerType;
  amount_micros: number;
  description: string;
  reference_kind: 'scan' | null;
  reference_id: string | null;
  created_at: Date;
};

/** An entry with what the organization's entries up to it sum up to. */
export type LedgerEntry = LedgerRecord & { balance_after_micros: number };

/** The entry for a scan's charge, or for giving it back. `amountMicros` is what the check costs, 0 or more. */
export function scanEntry(
  kind: 'charge' | 'refund',
  of: { organizationId: string; scanId: string },
  amountMicros: number,
  at: Date,
): LedgerRecord {
  return {
    _id: `${kind}:${of.scanId}`,
    organization_id: of.organizationId,
    type: kind === 'charge' ? 'usage_charge' : 'refund',
    // A free check is charged 0, not -0.
    amount_micros: kind === 'charge' ? 0 - amountMicros : amountMicros,
    description: kind === 'charge' ? 'Check' : 'Check given back',
    reference_kind: 'scan',
    reference_id: of.scanId,
    created_at: at,
  };
}
