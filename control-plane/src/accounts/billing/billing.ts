import type { OrganizationRecord } from '../organizations/organization.ts';
import { type Allowance, type Limits, type Refusal, refusalOf } from './allowance.ts';
import { monthOf } from './ledger-entry.ts';
import type { Period } from './usage-by-day.ts';

/** An organization's usage of this month, and whether it may create a scan. */
export type Billing = {
  period: Period;
  balance_micros: number;
  checks_per_period: number | null;
  checks_used: number;
  price_per_extra_check_micros: number;
  is_suspended: boolean;
  block_reason: 'suspended' | Refusal | null;
  billing_mode: 'prepaid' | 'postpaid';
};

export type ReadBillingParts = {
  find: (organizationId: string) => Promise<OrganizationRecord | null>;
  readAllowance: (organizationId: string) => Promise<{ allowance: Allowance; limits: Limits }>;
};

/**
 * Reads the billing state of an organization. `defaultPriceMicros`: price of a check for organizations without their
 * own price.
 */
export async function readBilling(
  { find, readAllowance }: ReadBillingParts,
  organizationId: string,
  defaultPriceMicros: number,
  now: Date,
): Promise<Billing> {
  const [organization, { allowance, limits }] = await Promise.all([
    find(organizationId),
    readAllowance(organizationId),
  ]);
  const price_micros = organization?.check_price_micros ?? defaultPriceMicros;
  const month = monthOf(now);
  const refusal = refusalOf(allowance, { month, checks: 1, price_micros }, limits);
  return {
    period: monthPeriod(now),
    balance_micros: allowance.available_micros,
    checks_per_period: limits.checks_per_month,
    checks_used: Math.max(0, allowance.months[month] ?? 0),
    price_per_extra_check_micros: price_micros,
    is_suspended: organization?.status === 'suspended',
    block_reason: organization?.status === 'active' ? refusal : 'suspended',
    billing_mode: limits.hasBalance ? 'prepaid' : 'postpaid',
  };
}

/** The calendar month (UTC) that contains `now`. */
export function monthPeriod(now: Date): Period {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { from: new Date(Date.UTC(year, month)), to: new Date(Date.UTC(year, month + 1)) };
}
