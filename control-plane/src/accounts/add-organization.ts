import { PERMISSIONS, type Permission } from '../http/permissions.ts';
import type { AccountStore } from './account-store.ts';
import { apiKeyRecord, type OrganizationRecord } from './api-key.ts';

/** The organization a deployment starts with; a fixed id, so that several control planes that start at once make one. */
export const FIRST_ORGANIZATION_ID = '00000000-0000-4000-8000-000000000001';

/** What a key of an ordinary organization may do at most: everything but making other organizations. */
const ORGANIZATION_PERMISSIONS: Permission[] = PERMISSIONS.filter((one) => one !== 'organizations.manage');

/** Stores an organization with a first key that may do everything in it. Doing it again changes nothing. */
export async function addOrganization(
  accounts: AccountStore,
  organization: Pick<OrganizationRecord, '_id' | 'name'>,
  apiKey: string,
  now: Date,
): Promise<void> {
  await accounts.insertOrganization({ ...organization, created_at: now });
  const of = { organization_id: organization._id, name: 'First key', permissions: ORGANIZATION_PERMISSIONS };
  await accounts.insertKey(apiKeyRecord(apiKey, of, now));
}

/** The first organization with `apiKey`; a key that changed between two starts is added to those that work already. */
export async function addFirstOrganization(accounts: AccountStore, apiKey: string, now: Date): Promise<void> {
  await addOrganization(accounts, { _id: FIRST_ORGANIZATION_ID, name: 'First organization' }, apiKey, now);
}
