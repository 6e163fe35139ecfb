import type { Permission } from '../../http/caller.ts';
import type { OutboxEntry, OutboxFields } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox } from '../../platform/outbox/outbox-source.ts';
import { NO_QUOTAS, type Quotas } from './quotas.ts';

/** The states of an organization's life cycle. */
export const ORGANIZATION_STATUSES = [
  'pending_email_verification',
  'pending_admin_approval',
  'active',
  'suspended',
  'rejected',
] as const;
export type OrganizationStatus = (typeof ORGANIZATION_STATUSES)[number];

/** A set of permissions with a name, from which keys are made. */
export type Role = { id: string; name: string; permissions: Permission[] };

/**
 * A label that the organization's scans can carry; its place in the list is its position. `auto_extract`: a model fills it in where a scan
 * has none. Absent in what earlier versions stored: it does not.
 */
export type Label = { key: string; display_name: string; auto_extract?: boolean };

export type OrganizationRecord = OutboxFields & {
  _id: string;
  /** The same: a record with an outbox names its organization. */
  organization_id: string;
  name: string;
  status: OrganizationStatus;
  /** Recipients of mails about its webhooks and its account. */
  contact_emails: string[];
  /** Absent: it has made none. */
  roles?: Role[];
  labels?: Label[];
  quotas: Quotas;
  /** What a check costs it, in micros; null: what the setting says. */
  check_price_micros: number | null;
  created_at: Date;
};

/** An active organization without limits, at the usual price. */
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
    ...initialOutbox(follows),
  };
}
