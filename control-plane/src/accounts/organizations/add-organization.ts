import { PERMISSIONS, type Permission } from '../../http/permissions.ts';
import type { AccountStore } from './account-store.ts';
import { type ApiKeyRecord, apiKeyRecord, type KeySource, type OrganizationRecord } from './api-key.ts';

/** The organization a deployment starts with; a fixed id, so that several control planes that start at once make one. */
export const FIRST_ORGANIZATION_ID = '00000000-0000-4000-8000-000000000001';

/** What a key of an ordinary organization may do at most: everything but making other organizations. */
const ORGANIZATION_PERMISSIONS: Permission[] = PERMISSIONS.filter((one) => one !== 'organizations.manage');

/** Stores an organization with a key from `source` that may do everything in it, and answers the key. Doing it again changes nothing. */
export async function addOrganization(
  accounts: AccountStore,
  organization: Pick<OrganizationRecord, '_id' | 'name'>,
  apiKey: string,
  now: Date,
  source: KeySource = 'api',
): Promise<ApiKeyRecord> {
  await accounts.insertOrganization({ ...organization, created_at: now });
  const of = { organization_id: organization._id, name: 'First key', source, permissions: ORGANIZATION_PERMISSIONS };
  const key = apiKeyRecord(apiKey, of, now);
  await accounts.insertKey(key);
  return key;
}

/**
 * The first organization with `apiKey` as its key from the environment. It replaces its predecessor, which works no longer; keys made
 * otherwise stay. Of replicas that start with different keys, the last one wins.
 */
export async function addFirstOrganization(accounts: AccountStore, apiKey: string, now: Date): Promise<void> {
  const organization = { _id: FIRST_ORGANIZATION_ID, name: 'First organization' };
  await accounts.removeOtherKeysOfEnvironment(
    await addOrganization(accounts, organization, apiKey, now, 'environment'),
  );
}
