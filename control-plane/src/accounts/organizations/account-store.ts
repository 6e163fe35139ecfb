import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { ApiKeyRecord, OrganizationRecord } from './api-key.ts';

/** The only code that touches organizations and their keys. */
export type AccountStore = ReturnType<typeof accountStore>;

export function accountStore(store: Store) {
  const organizations: Collection<OrganizationRecord> = store.collection<OrganizationRecord>('organizations');
  const keys: Collection<ApiKeyRecord> = store.collection<ApiKeyRecord>('api_keys');

  return {
    async createIndexes(): Promise<void> {
      await keys.createIndex({ key_hash: 1 }, { unique: true });
      await keys.createIndex({ organization_id: 1, created_at: 1 });
    },

    /** Stores an organization; one of that id that is there already is left as it is. */
    async insertOrganization(record: OrganizationRecord): Promise<void> {
      await insertOnce(organizations, record);
    },

    /** Stores a key; the same key stored before is left as it is. */
    async insertKey(record: ApiKeyRecord): Promise<void> {
      await insertOnce(keys, record);
    },

    /** Revokes the organization's keys from the environment but for `key`. */
    async removeOtherKeysOfEnvironment(key: ApiKeyRecord): Promise<void> {
      const { organization_id, key_hash } = key;
      await keys.deleteMany({ organization_id, key_hash: { $ne: key_hash }, source: { $ne: 'api' } });
    },

    async findKeyByHash(hash: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ key_hash: hash });
    },

    async hasKeys(): Promise<boolean> {
      return (await keys.findOne({}, { projection: { _id: 1 } })) !== null;
    },
  };
}
