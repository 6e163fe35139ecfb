import type { UsageKind } from '@adsweep/shared/scan/usage-kind.ts';
import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';

/** The calendar month of a moment in UTC, such as `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/**
 * Types of ledger entries. New ones can be added: clients treat an unknown type as a posting of its signed amount (spec
 * 7.2).
 */
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

/** What the operator can book: payments, and corrections. */
export const CREDIT_TYPES = ['top_up_manual', 'admin_adjustment'] as const satisfies LedgerType[];

/**
 * A signed amount in micros to be booked. `_id` is derived from its cause (`charge:<scan>`), so that it is booked once.
 */
export type LedgerPosting = {
  _id: string;
  organization_id: string;
  type: LedgerType;
  amount_micros: number;
  description: string;
  reference_kind: 'scan' | null;
  reference_id: string | null;
  /** Target kind of the scan. Absent: the posting is for no scan, or an earlier version wrote it. */
  target_kind?: UsageKind;
  /** Credits of the operator only: the document that they belong to (null: none), and who booked them. */
  document_number?: string | null;
  actor_user_id?: string;
  /** The month in which the charged or refunded check was counted. Absent from a charge: that of `created_at`. */
  check_month?: string;
  /** When it happened. An entry is never older than its predecessor. */
  created_at: Date;
};

/**
 * A booked posting. `sequence` numbers the entries of an organization, from 1 and without gaps; `counts` are the
 * running numbers of entries per type, this entry included. Entries are append-only.
 */
export type LedgerEntry = LedgerPosting & {
  sequence: number;
  balance_after_micros: number;
  counts: Partial<Record<LedgerType, number>>;
  /**
   * Running totals per target kind, this entry included. Absent: no charge or refund yet. `earlier`: those of checks
   * that were counted in an earlier month than they were booked; absent: none, or an earlier version wrote it.
   */
  usage?: Partial<Record<UsageKind, Usage & { earlier?: Usage }>>;
};

/** Numbers and amounts (in micros) of charged and of refunded checks. */
export type Usage = { checks: number; charged_micros: number; refunds: number; refunded_micros: number };

export const NO_USAGE: Readonly<Usage & { earlier?: Usage }> = {
  checks: 0,
  charged_micros: 0,
  refunds: 0,
  refunded_micros: 0,
};

/** The ledger entry for `posting` that follows `last`, the organization's newest entry (null: none yet). */
export function entryAfter(last: LedgerEntry | null, posting: LedgerPosting): LedgerEntry {
  const counts = last?.counts ?? {};
  const created_at = last && last.created_at > posting.created_at ? last.created_at : posting.created_at;
  return {
    ...posting,
    created_at,
    sequence: (last?.sequence ?? 0) + 1,
    balance_after_micros: (last?.balance_after_micros ?? 0) + posting.amount_micros,
    counts: { ...counts, [posting.type]: (counts[posting.type] ?? 0) + 1 },
    ...usageAfter(last?.usage, posting, created_at),
  };
}

function usageAfter(usage: LedgerEntry['usage'], posting: LedgerPosting, bookedAt: Date) {
  const { target_kind, created_at, check_month = monthOf(created_at) } = posting;
  if (target_kind === undefined) return usage ? { usage } : {};
  const { earlier: before, ...all } = usage?.[target_kind] ?? NO_USAGE;
  const isEarlier = check_month < monthOf(bookedAt);
  const earlier = isEarlier ? added(before ?? NO_USAGE, posting) : before;
  return { usage: { ...usage, [target_kind]: { ...added(all, posting), ...(earlier && { earlier }) } } };
}

function added(to: Usage, { type, amount_micros }: LedgerPosting): Usage {
  const { checks, charged_micros, refunds, refunded_micros } = to;
  return type === 'refund'
    ? { ...to, refunds: refunds + 1, refunded_micros: refunded_micros + amount_micros }
    : { ...to, checks: checks + 1, charged_micros: charged_micros - amount_micros };
}

/** The charged check: target kind (absent in entries of earlier versions), and when it was counted. */
export type BookedCheck = { targetKind?: UsageKind | undefined; chargedAt: Date };

/** What is booked of a scan: its charge, and the refund of it. */
export const SCAN_POSTINGS = ['charge', 'refund'] as const;
type ScanPosting = (typeof SCAN_POSTINGS)[number];

/** The id of the ledger entry of a scan. */
export const postingIdOf = (kind: ScanPosting, scanId: string): string => `${kind}:${scanId}`;

/** The charge or refund of a scan. `amountMicros`: the price of the check, 0 or more. */
export function scanPosting(
  kind: ScanPosting,
  of: { organizationId: string; scanId: string },
  amountMicros: number,
  at: Date,
  { targetKind, chargedAt }: BookedCheck = { chargedAt: at },
): LedgerPosting {
  return {
    _id: postingIdOf(kind, of.scanId),
    organization_id: of.organizationId,
    type: kind === 'charge' ? 'usage_charge' : 'refund',
    // 0 - amount instead of -amount: -0 for a free check would be stored as such.
    amount_micros: kind === 'charge' ? 0 - amountMicros : amountMicros,
    description: kind === 'charge' ? 'Check' : 'Check refunded',
    reference_kind: 'scan',
    reference_id: of.scanId,
    ...(targetKind && { target_kind: targetKind }),
    ...((kind === 'refund' || monthOf(chargedAt) !== monthOf(at)) && { check_month: monthOf(chargedAt) }),
    created_at: at,
  };
}

/** The posting of a credit of the operator. */
export const creditPosting = (
  organization_id: string,
  { id, at, type, amount_micros, description, document_number, actor_id }: OutboxEntry<'credit'>,
): LedgerPosting => ({
  _id: id,
  organization_id,
  type,
  amount_micros,
  description,
  document_number,
  actor_user_id: actor_id,
  reference_kind: null,
  reference_id: null,
  created_at: at,
});

/** Books the charge or the refund of a scan. Idempotent: repeated calls for the same entry book it once. */
export async function bookCharge(
  ledger: { book(posting: LedgerPosting): Promise<unknown> },
  { kind, amount_micros, at, target_kind, charged_at = at }: OutboxEntry<'charge' | 'refund'>,
  origin: Origin,
): Promise<void> {
  await ledger.book(scanPosting(kind, origin, amount_micros, at, { targetKind: target_kind, chargedAt: charged_at }));
}
