import { ORGANIZATION_PERMISSIONS, PERMISSIONS } from '../http/caller.ts';
import type { OutboxEntry } from '../platform/outbox/outbox-entry.ts';
import { type ApiKeyRecord, apiKeyRecord, type KeySource } from './keys/api-key.ts';
import type { KeyStore } from './keys/key-store.ts';
import { newOrganization, type OrganizationRecord } from './organizations/organization.ts';
import type { OrganizationStore } from './organizations/organization-store.ts';

/**
 * Id of the organization that every deployment has. It is fixed, so that control planes that start concurrently create
 * only one.
 */
export const FIRST_ORGANIZATION_ID = '00000000-0000-4000-8000-000000000001';

export type AccountStores = { organizations: OrganizationStore; keys: KeyStore };

/**
 * Stores an organization, with the entries `follows` in its outbox, and its first key, which is returned. A key from
 * the environment is the operator's and has all permissions; any other key has all permissions within its organization.
 * Repeated calls change nothing.
 */
export async function addOrganization(
  { organizations, keys }: AccountStores,
  organization: Pick<OrganizationRecord, '_id' | 'name'>,
  apiKey: string,
  now: Date,
  {
    source = 'api',
    expiresAt = null,
    follows = [],
  }: { source?: KeySource; expiresAt?: Date | null; follows?: OutboxEntry[] } = {},
): Promise<ApiKeyRecord> {
  await organizations.insert(newOrganization(organization, now, follows));
  const permissions = [...(source === 'environment' ? PERMISSIONS : ORGANIZATION_PERMISSIONS)];
  const of = { organization_id: organization._id, name: 'First key', source, permissions };
  const key = apiKeyRecord(apiKey, of, now, expiresAt);
  await keys.insert(key);
  return key;
}

/**
 * Stores the first organization with `apiKey`, the operator's key from the environment. It replaces the previous key
 * from the environment, which becomes invalid; keys created by the API stay valid. If replicas start with different
 * keys, the last one wins.
 */
export async function addFirstOrganization(accounts: AccountStores, apiKey: string, now: Date): Promise<void> {
  const organization = { _id: FIRST_ORGANIZATION_ID, name: 'First organization' };
  const key = await addOrganization(accounts, organization, apiKey, now, { source: 'environment' });
  await accounts.keys.removeOthersOfEnvironment(key);
}
