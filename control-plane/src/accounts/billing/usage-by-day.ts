import type { UsageKind } from '@adsweep/shared/scan/usage-kind.ts';
import { type LedgerEntry, NO_USAGE, type Usage } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/** Charges and refunds of one day (UTC) for targets of one kind. */
export type DayUsage = Usage & { date: string; kind: UsageKind };

/** A half-open period of whole days: `to` is not part of it. */
export type Period = { from: Date; to: Date };

const FIELDS = ['checks', 'charged_micros', 'refunds', 'refunded_micros'] as const;

/**
 * An organization's usage in a period, newest day first; days without usage are omitted. Ledger entries contain running
 * totals, so each day needs one query, whatever its number of checks.
 */
export async function usageByDay(
  ledger: Pick<LedgerStore, 'newestBefore'>,
  organizationId: string,
  { from, to }: Period,
): Promise<DayUsage[]> {
  const days: DayUsage[] = [];
  let last = await ledger.newestBefore(organizationId, to);
  while (last && last.created_at >= from) {
    const date = last.created_at.toISOString().slice(0, 10);
    const before = await ledger.newestBefore(organizationId, new Date(`${date}T00:00:00Z`));
    days.push(...usageBetween(before, last).map((usage) => ({ date, ...usage })));
    last = before;
  }
  return days;
}

function usageBetween(before: LedgerEntry | null, last: LedgerEntry): (Usage & { kind: UsageKind })[] {
  return Object.entries(last.usage ?? {}).flatMap(([name, after]) => {
    const kind = name as UsageKind;
    const start = before?.usage?.[kind] ?? NO_USAGE;
    const usage = { ...NO_USAGE };
    for (const field of FIELDS) usage[field] = after[field] - start[field];
    return usage.checks + usage.refunds > 0 ? [{ kind, ...usage }] : [];
  });
}

/**
 * The checks that were counted in a month, without refunded ones, and what they cost, as far as that was booked in it.
 */
export async function usageOfMonth(
  ledger: Pick<LedgerStore, 'newestBefore'>,
  organizationId: string,
  { from, to }: Period,
): Promise<{ checks: number; charged_micros: number }> {
  const [before, last] = await Promise.all([from, to].map((end) => ledger.newestBefore(organizationId, end)));
  const [start, end] = [netOf(before), netOf(last)];
  return { checks: end.checks - start.checks, charged_micros: end.charged_micros - start.charged_micros };
}

/** What an organization has used up to an entry, of checks that were booked in the month in which they were counted. */
function netOf(entry: LedgerEntry | null | undefined) {
  const net = { checks: 0, charged_micros: 0 };
  for (const { earlier = NO_USAGE, ...all } of Object.values(entry?.usage ?? {})) {
    net.checks += all.checks - all.refunds - (earlier.checks - earlier.refunds);
    net.charged_micros += all.charged_micros - all.refunded_micros - (earlier.charged_micros - earlier.refunded_micros);
  }
  return net;
}
