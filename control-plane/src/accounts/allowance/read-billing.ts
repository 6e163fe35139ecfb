import { type Billing, billingOf } from '../billing/billing.ts';
import { monthOf } from '../billing/month-of.ts';
import type { OrganizationRecord } from '../organizations/organization.ts';
import { type Allowance, type Limits, refusalOf } from './allowance.ts';

export type ReadBillingParts = {
  find: (organizationId: string) => Promise<OrganizationRecord | null>;
  readAllowance: (organizationId: string) => Promise<{ allowance: Allowance; limits: Limits }>;
};

/** How an organization stands: what it has used, and whether it may make one more check. `usualMicros`: what a check costs by the settings. */
export async function readBilling(
  { find, readAllowance }: ReadBillingParts,
  organizationId: string,
  usualMicros: number,
  now: Date,
): Promise<Billing> {
  const [organization, { allowance, limits }] = await Promise.all([
    find(organizationId),
    readAllowance(organizationId),
  ]);
  const price_micros = organization?.check_price_micros ?? usualMicros;
  const refusal = refusalOf(allowance, { month: monthOf(now), checks: 1, price_micros }, limits);
  return billingOf(organization, { ...allowance, limits, refusal }, price_micros, now);
}
