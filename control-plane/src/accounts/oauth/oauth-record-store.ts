import { createHash } from 'node:crypto';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { deleteInPortions } from '../../platform/in-portions.ts';
import type { Collection, Store } from '../../platform/store.ts';

/**
 * What the OAuth provider stores: codes, tokens, grants, sessions and interactions. `_id` is a hash, because the id of
 * a code, a token or a session is the secret itself.
 */
type OAuthRecord = {
  _id: string;
  model: string;
  /** JSON of the provider's payload, without the id and without what is a field here. */
  payload: string;
  client_id: string | null;
  grant_id: string | null;
  uid: string | null;
  consumed_at: Date | null;
  expires_at: Date;
};

/** An access token of a client itself, or of a person who signed in to a client (`keyId`). */
export type AccessToken = { id: string; clientId: string; keyId: string | null; scope: string; expiresAt: Date };

/** Models whose records are access tokens. */
const ACCESS_TOKENS = ['AccessToken', 'ClientCredentials'];

/** The only code that accesses the records of the OAuth provider. */
export function oauthRecordStore(store: Store) {
  const records: Collection<OAuthRecord> = store.collection<OAuthRecord>('oauth_records');

  const revokeGrant = async (grant_id: string): Promise<void> => {
    // The grant first: without it no token is valid.
    await records.deleteOne({ _id: idOf('Grant', grant_id) });
    await deleteInPortions(records, { grant_id });
  };
  /** The access token of a record, if the grant that it was issued for is still there. */
  const readToken = async (_id: string, now: Date): Promise<AccessToken | null> => {
    const record = await records.findOne({ _id });
    if (!record || record.expires_at <= now || !ACCESS_TOKENS.includes(record.model)) return null;
    const isGranted = record.grant_id === null || (await records.findOne({ _id: idOf('Grant', record.grant_id) }));
    return isGranted ? accessTokenOf(record) : null;
  };
  const findBy = async (filter: { _id: string } | { model: string; uid: string }, id: string | undefined) => {
    const record = await records.findOne(filter);
    return record && record.expires_at > new Date() ? payloadOf(record, id) : undefined;
  };

  return {
    async createIndexes(): Promise<void> {
      await records.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
      await records.createIndex({ grant_id: 1 });
      await records.createIndex({ client_id: 1 });
      await records.createIndex({ model: 1, uid: 1 });
    },

    /** The provider's adapter for one of its models, except clients. */
    adapterOf: (model: string): Adapter => ({
      async upsert(id, payload, seconds: number) {
        const record = recordOf(model, id, payload, seconds);
        await records.replaceOne({ _id: record._id }, record, { upsert: true });
        // A grant lives as long as a token that was issued for it.
        if (record.grant_id !== null)
          await records.updateOne(
            { _id: idOf('Grant', record.grant_id), expires_at: { $lt: record.expires_at } },
            { $set: { expires_at: record.expires_at } },
          );
      },
      find: (id) => findBy({ _id: idOf(model, id) }, id),
      findByUid: (uid) => findBy({ model, uid }, undefined),
      findByUserCode: async () => undefined,
      async consume(id) {
        const _id = idOf(model, id);
        const consumed = await records.updateOne({ _id, consumed_at: null }, { $set: { consumed_at: new Date() } });
        if (consumed.matchedCount === 1) return;
        // Two requests used it at the same instant: one of them may have stolen it, so all that follows from the grant
        // ends (RFC 9700, section 4.14).
        const used = await records.findOne({ _id });
        if (used?.grant_id) await revokeGrant(used.grant_id);
        throw new errors.InvalidGrant('it was used before');
      },
      async destroy(id) {
        await records.deleteOne({ _id: idOf(model, id) });
      },
      async revokeByGrantId(grantId) {
        await deleteInPortions(records, { grant_id: grantId, model });
      },
    }),

    /** An access token that has not expired at `now`; null: there is none. */
    findAccessToken: (token: string, now: Date) => readToken(idOf('AccessToken', token), now),

    /** The same by the id of its record. */
    findAccessTokenById: readToken,

    /** Ends every code, token and grant of a client. */
    async removeOfClient(client_id: string): Promise<void> {
      await deleteInPortions(records, { client_id });
    },
  };
}

/** Access tokens of both models have one kind of id: a request says only the token. */
function idOf(model: string, id: string): string {
  const kind = ACCESS_TOKENS.includes(model) ? 'access token' : model;
  return createHash('sha256').update(`${kind}:${id}`).digest('hex');
}

function recordOf(model: string, id: string, payload: AdapterPayload, seconds: number): OAuthRecord {
  const { jti: _, exp: __, consumed: ___, ...stored } = payload;
  return {
    _id: idOf(model, id),
    model,
    payload: JSON.stringify(stored),
    client_id: payload.clientId ?? null,
    grant_id: payload.grantId ?? null,
    uid: payload.uid ?? null,
    consumed_at: payload.consumed ? new Date() : null,
    expires_at: new Date(Date.now() + seconds * 1000),
  };
}

function payloadOf({ payload, expires_at, consumed_at }: OAuthRecord, id: string | undefined): AdapterPayload {
  return {
    ...(JSON.parse(payload) as AdapterPayload),
    ...(id !== undefined && { jti: id }),
    exp: Math.floor(expires_at.getTime() / 1000),
    ...(consumed_at && { consumed: Math.floor(consumed_at.getTime() / 1000) }),
  };
}

function accessTokenOf({ _id, payload, client_id, expires_at }: OAuthRecord): AccessToken {
  const { accountId = null, scope = '' } = JSON.parse(payload) as { accountId?: string; scope?: string };
  return { id: _id, clientId: client_id!, keyId: accountId, scope, expiresAt: expires_at };
}
