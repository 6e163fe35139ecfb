import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { ApiKeyRecord } from './api-key.ts';

/** The only code that touches the keys of organizations. */
export type KeyStore = ReturnType<typeof keyStore>;

export function keyStore(store: Store) {
  const keys: Collection<ApiKeyRecord> = store.collection<ApiKeyRecord>('api_keys');

  return {
    async createIndexes(): Promise<void> {
      await keys.createIndex({ key_hash: 1 }, { unique: true });
      await keys.createIndex({ organization_id: 1, created_at: 1 });
    },

    /** Stores a key; the same key stored before is left as it is. */
    async insert(record: ApiKeyRecord): Promise<void> {
      await insertOnce(keys, record);
    },

    /** Revokes the organization's keys from the environment but for `key`. */
    async removeOthersOfEnvironment(key: ApiKeyRecord): Promise<void> {
      const { organization_id, key_hash } = key;
      await keys.deleteMany({ organization_id, key_hash: { $ne: key_hash }, source: { $ne: 'api' } });
    },

    async findByHash(hash: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ key_hash: hash });
    },

    /** A key of this organization, or null: missing and someone else's look the same. */
    async find(organizationId: string, id: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ _id: id, organization_id: organizationId });
    },

    /** The organization's keys, oldest first. */
    async listOf(organizationId: string): Promise<ApiKeyRecord[]> {
      return keys.find({ organization_id: organizationId }).sort({ created_at: 1 }).toArray();
    },

    /** Revokes a key. */
    async remove({ _id, organization_id }: ApiKeyRecord): Promise<void> {
      await keys.deleteOne({ _id, organization_id });
    },

    /** Notes when a key was in use. */
    async noteUse(id: string, now: Date): Promise<void> {
      await keys.updateOne({ _id: id }, { $set: { last_used_at: now } });
    },

    async isEmpty(): Promise<boolean> {
      return (await keys.findOne({}, { projection: { _id: 1 } })) === null;
    },
  };
}
