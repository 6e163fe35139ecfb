import { NO_QUOTAS, type Quotas } from './quotas.ts';

/** Where an organization is between its registration and its end. */
export const ORGANIZATION_STATUSES = [
  'pending_email_verification',
  'pending_admin_approval',
  'active',
  'suspended',
  'rejected',
] as const;
export type OrganizationStatus = (typeof ORGANIZATION_STATUSES)[number];

export type OrganizationRecord = {
  _id: string;
  name: string;
  status: OrganizationStatus;
  /** Whom mails about its webhooks and its account go to. */
  contact_emails: string[];
  quotas: Quotas;
  /** What a check costs it, in micros; null: what the setting says. */
  check_price_micros: number | null;
  created_at: Date;
};

/** An active organization without limits, at the usual price. */
export function newOrganization(of: Pick<OrganizationRecord, '_id' | 'name'>, now: Date): OrganizationRecord {
  return {
    ...of,
    status: 'active',
    contact_emails: [],
    quotas: { ...NO_QUOTAS },
    check_price_micros: null,
    created_at: now,
  };
}
