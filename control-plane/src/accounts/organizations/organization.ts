import { ApiError } from '../../http/api-error.ts';
import type { Permission } from '../../http/caller.ts';
import type { OutboxEntry, OutboxFields } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox } from '../../platform/outbox/outbox-source.ts';

/** The states of an organization's life cycle. */
export const ORGANIZATION_STATUSES = [
  'pending_email_verification',
  'pending_admin_approval',
  'active',
  'suspended',
  'rejected',
] as const;
export type OrganizationStatus = (typeof ORGANIZATION_STATUSES)[number];

/** A named set of permissions, which a new key can copy. */
export type Role = { id: string; name: string; permissions: Permission[] };

/**
 * A label for the organization's scans; its index in the list is its position. `auto_extract`: the AI model fills it in
 * on scans without it. Absent in records of earlier versions: false.
 */
export type Label = { key: string; display_name: string; auto_extract?: boolean };

/** The limits of an organization; null: no limit. */
export type Quotas = {
  /** Checks in a calendar month (UTC), without refunded ones. */
  checks_per_month: number | null;
  /** Crawl jobs that are leased at the same time. */
  concurrent_leases: number | null;
  /** API requests in a minute, over all its keys. */
  requests_per_minute: number | null;
};

export const NO_QUOTAS: Readonly<Quotas> = {
  checks_per_month: null,
  concurrent_leases: null,
  requests_per_minute: null,
};

export type OrganizationRecord = OutboxFields & {
  _id: string;
  /** Equal to `_id`: every record with an outbox names its organization. */
  organization_id: string;
  name: string;
  status: OrganizationStatus;
  /** Recipients of mails about its account and its webhooks. */
  contact_emails: string[];
  /** Absent: none. The built-in ones are not stored. */
  roles?: Role[];
  labels?: Label[];
  quotas: Quotas;
  /** Price of a check, in micros; null: the price in the settings. */
  check_price_micros: number | null;
  created_at: Date;
};

/** The record of a new organization: active, without limits, at the price in the settings. */
export function newOrganization(
  of: Pick<OrganizationRecord, '_id' | 'name'>,
  now: Date,
  follows: OutboxEntry[] = [],
): OrganizationRecord {
  return {
    ...of,
    organization_id: of._id,
    status: 'active',
    contact_emails: [],
    quotas: { ...NO_QUOTAS },
    check_price_micros: null,
    created_at: now,
    ...initialOutbox(of._id, follows),
  };
}

/**
 * The price of a check for this organization, in micros; `defaultPrice` is the price in the settings. Throws 403
 * `billing.suspended` if the organization is not active: it can read its data but create nothing.
 */
export async function priceOfCheck(
  organizations: { find(id: string): Promise<OrganizationRecord | null> },
  organizationId: string,
  defaultPrice: number,
): Promise<number> {
  const organization = await organizations.find(organizationId);
  if (organization?.status !== 'active') throw new ApiError('billing.suspended', 'This organization is not active.');
  return organization.check_price_micros ?? defaultPrice;
}
