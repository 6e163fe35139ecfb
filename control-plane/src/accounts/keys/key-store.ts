import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { OutboxEntry, OutboxFields } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox, OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { ApiKeyRecord } from './api-key.ts';

/** A key that was not revoked. */
const VALID = { revoked_at: { $exists: false } };

/** The most keys of one organization that are not revoked: all of them are listed together. */
const KEYS_MAX = 1_000;

type KeyWithOutbox = ApiKeyRecord & OutboxFields;

/** The only code that accesses the keys of organizations. */
export type KeyStore = ReturnType<typeof keyStore>;

export function keyStore(store: Store) {
  const keys: Collection<ApiKeyRecord> = store.collection<ApiKeyRecord>('api_keys');
  const writeWithin = boundedNumber(store, 'api_keys', {
    records: keys,
    where: VALID,
    most: KEYS_MAX,
    refuse: () =>
      new ApiError(
        'account.too_many_keys',
        `There can be at most ${KEYS_MAX} keys: revoke those that you do not need.`,
      ),
  });

  const insert = async (record: ApiKeyRecord, follows: OutboxEntry[] = []): Promise<void> => {
    await insertOnce(keys, { ...record, ...(follows.length > 0 && initialOutbox(record.organization_id, follows)) });
  };

  return {
    async createIndexes(): Promise<void> {
      await keys.createIndex({ key_hash: 1 }, { unique: true });
      await keys.createIndexes([{ key: { organization_id: 1, created_at: 1 } }, ...OUTBOX_INDEXES]);
    },

    /** Stores a key with its outbox entries, unless the key is already stored. */
    insert,

    /** The same, of a client. Throws 409 if its organization has too many keys. */
    async insertWithin(record: ApiKeyRecord, follows: OutboxEntry[]): Promise<void> {
      await writeWithin(record.organization_id, record._id, () => insert(record, follows));
    },

    /** Removes the organization's keys from the environment, except `key`. */
    async removeOthersOfEnvironment(key: ApiKeyRecord): Promise<void> {
      const { organization_id, key_hash } = key;
      await keys.deleteMany({ organization_id, key_hash: { $ne: key_hash }, source: { $ne: 'api' } });
    },

    async findByHash(hash: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ key_hash: hash, ...VALID });
    },

    /** A key of any organization, unless it is revoked: for the key of a request. */
    async findById(id: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ _id: id, ...VALID });
    },

    /** A key of this organization; null if it does not exist, is revoked or belongs to another organization. */
    async find(organizationId: string, id: string): Promise<ApiKeyRecord | null> {
      return keys.findOne({ _id: id, organization_id: organizationId, ...VALID });
    },

    /** The organization's keys, oldest first. */
    async listOf(organizationId: string): Promise<ApiKeyRecord[]> {
      return keys
        .find({ organization_id: organizationId, ...VALID })
        .sort({ created_at: 1 })
        .toArray();
    },

    /** Revokes a key. Its record is kept. */
    async revoke({ _id, organization_id }: ApiKeyRecord, audit: OutboxEntry<'audit'>): Promise<void> {
      const update = { $set: { revoked_at: audit.at }, ...pushToOutbox(organization_id, [audit]) };
      await keys.updateOne({ _id, organization_id, ...VALID }, update);
    },

    /** Records the last use of a key. */
    async recordUse(id: string, now: Date): Promise<void> {
      await keys.updateOne({ _id: id }, { $set: { last_used_at: now } });
    },

    /** The outboxes of keys. */
    outbox: outboxSource<KeyWithOutbox>(
      'api_keys',
      keys as unknown as Collection<KeyWithOutbox>,
      [],
      ({ organization_id }) => ({ organizationId: organization_id, scanId: '', campaignId: null }),
    ),

    async isEmpty(): Promise<boolean> {
      return (await keys.findOne(VALID, { projection: { _id: 1 } })) === null;
    },
  };
}
