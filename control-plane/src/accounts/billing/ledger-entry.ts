import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import { monthOf } from './month-of.ts';

/** Kinds of ledger entries. The list is open: clients take an unknown one as a posting of its signed amount (spec 7.2). */
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

/** One signed amount in micros, about to be booked. `_id` follows from what caused it (`charge:<scan>`), so that it is booked once. */
export type LedgerPosting = {
  _id: string;
  organization_id: string;
  type: LedgerType;
  amount_micros: number;
  description: string;
  reference_kind: 'scan' | null;
  reference_id: string | null;
  /** What was checked. Absent: no check, or one of an earlier version. */
  target_kind?: TargetKind;
  /** Of a refund: the month that its check was counted in. */
  check_month?: string;
  /** When it happened; an entry is never older than the one before it. */
  created_at: Date;
};

/**
 * A booked posting: the entry number `sequence` of its organization (from 1, without gaps), with the balance after it and how many
 * entries of each type there are up to it. Entries are only ever added.
 */
export type LedgerEntry = LedgerPosting & {
  sequence: number;
  balance_after_micros: number;
  counts: Partial<Record<LedgerType, number>>;
  /** What the entries up to it come to, by what was checked. Absent: there are no such entries. */
  usage?: Partial<Record<TargetKind, Usage>>;
};

/** Checks that were charged and refunded, and for how much. */
export type Usage = { checks: number; charged_micros: number; refunds: number; refunded_micros: number };

export const NO_USAGE: Readonly<Usage> = { checks: 0, charged_micros: 0, refunds: 0, refunded_micros: 0 };

/** The entry that `posting` becomes after `last`, the organization's newest one; null: it is the first. */
export function entryAfter(last: LedgerEntry | null, posting: LedgerPosting): LedgerEntry {
  const counts = last?.counts ?? {};
  return {
    ...posting,
    created_at: last && last.created_at > posting.created_at ? last.created_at : posting.created_at,
    sequence: (last?.sequence ?? 0) + 1,
    balance_after_micros: (last?.balance_after_micros ?? 0) + posting.amount_micros,
    counts: { ...counts, [posting.type]: (counts[posting.type] ?? 0) + 1 },
    ...usageAfter(last?.usage, posting),
  };
}

function usageAfter(usage: LedgerEntry['usage'], { target_kind, type, amount_micros }: LedgerPosting) {
  if (target_kind === undefined) return usage ? { usage } : {};
  const before = usage?.[target_kind] ?? NO_USAGE;
  const { checks, charged_micros, refunds, refunded_micros } = before;
  const after =
    type === 'refund'
      ? { ...before, refunds: refunds + 1, refunded_micros: refunded_micros + amount_micros }
      : { ...before, checks: checks + 1, charged_micros: charged_micros - amount_micros };
  return { usage: { ...usage, [target_kind]: after } };
}

/** A check: what was checked, and when it was charged. An earlier version did not note the kind. */
export type BookedCheck = { targetKind?: TargetKind | undefined; chargedAt: Date };

/** What a scan's creation charges, or what is refunded. `amountMicros` is what the check costs, 0 or more. */
export function scanPosting(
  kind: 'charge' | 'refund',
  of: { organizationId: string; scanId: string },
  amountMicros: number,
  at: Date,
  { targetKind, chargedAt }: BookedCheck = { chargedAt: at },
): LedgerPosting {
  return {
    _id: `${kind}:${of.scanId}`,
    organization_id: of.organizationId,
    type: kind === 'charge' ? 'usage_charge' : 'refund',
    // A free check is charged 0, not -0.
    amount_micros: kind === 'charge' ? 0 - amountMicros : amountMicros,
    description: kind === 'charge' ? 'Check' : 'Check refunded',
    reference_kind: 'scan',
    reference_id: of.scanId,
    ...(targetKind && { target_kind: targetKind }),
    ...(kind === 'refund' && { check_month: monthOf(chargedAt) }),
    created_at: at,
  };
}
