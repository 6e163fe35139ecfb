import type { OrganizationRecord } from '../organizations/organization.ts';
import { monthOf } from './month-of.ts';
import type { Period } from './usage-by-day.ts';

/** What an organization has used, and whether it may create a scan. */
export type Billing = {
  period: Period;
  balance_micros: number;
  checks_per_period: number | null;
  checks_used: number;
  price_per_extra_check_micros: number;
  is_suspended: boolean;
  block_reason: 'suspended' | 'quota_exhausted' | 'insufficient_funds' | null;
  billing_mode: 'prepaid' | 'postpaid';
};

/** The calendar month of a moment in UTC. */
export function monthPeriod(now: Date): Period {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { from: new Date(Date.UTC(year, month)), to: new Date(Date.UTC(year, month + 1)) };
}

/** What is left of an allowance, and why a check would be refused. */
export type UsedAllowance = {
  months: Record<string, number>;
  available_micros: number;
  limits: { checks_per_month: number | null; hasBalance: boolean };
  refusal: 'quota_exhausted' | 'insufficient_funds' | null;
};

/** How an organization stands at `now`. `priceMicros`: what a check costs it. */
export function billingOf(
  organization: Pick<OrganizationRecord, 'status'> | null,
  { months, available_micros, limits, refusal }: UsedAllowance,
  priceMicros: number,
  now: Date,
): Billing {
  const isActive = organization?.status === 'active';
  return {
    period: monthPeriod(now),
    balance_micros: available_micros,
    checks_per_period: limits.checks_per_month,
    checks_used: Math.max(0, months[monthOf(now)] ?? 0),
    price_per_extra_check_micros: priceMicros,
    is_suspended: organization?.status === 'suspended',
    block_reason: isActive ? refusal : 'suspended',
    billing_mode: limits.hasBalance ? 'prepaid' : 'postpaid',
  };
}
