import { DAY_MS } from '@adsweep/shared/durations.ts';
import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { deleteInPortions, updateInPortions } from '../../platform/in-portions.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { OutboxEntry, OutboxFields } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox, OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { OAuthClientRecord } from './oauth-client.ts';

/** The most clients of one organization: all of them are listed together. */
const CLIENTS_MAX = 100;
/**
 * The most clients that registered themselves, in all: registration is open to everybody where the operator allows it.
 */
const REGISTERED_MAX = 10_000;
/**
 * How long one of them is kept after it was last used. Its refresh tokens, which would be used, have ended long before.
 */
const USED_MS = 180 * DAY_MS;
/** Its end is exact to this: a write for each token would be too many. */
const EXACT_TO_MS = DAY_MS;

/** A client that was not deleted. */
const LIVE = { deleted_at: { $exists: false } };

type StoredClient = OAuthClientRecord & { deleted_at?: Date };
/** Only changes of an organization's clients are audited. */
type ClientWithOutbox = StoredClient & OutboxFields & { organization_id: string };

/** The only code that accesses OAuth clients. */
export type OAuthClientStore = ReturnType<typeof oauthClientStore>;

export function oauthClientStore(store: Store, registeredMax = REGISTERED_MAX) {
  const clients: Collection<StoredClient> = store.collection<StoredClient>('oauth_clients');
  const writeWithin = boundedNumber(store, 'oauth_clients', {
    records: clients,
    where: LIVE,
    most: CLIENTS_MAX,
    refuse: () => new ApiError('account.too_many_oauth_clients', `There can be at most ${CLIENTS_MAX} OAuth clients.`),
  });

  return {
    async createIndexes(): Promise<void> {
      await clients.createIndexes([
        { key: { organization_id: 1, created_at: 1 } },
        { key: { organization_id: 1, expires_at: 1 } },
        ...OUTBOX_INDEXES,
      ]);
    },

    /**
     * Stores a client of an organization. Throws 409 if it has too many. If the client exists, its request was
     * interrupted before anybody saw its secret: it gets this one.
     */
    async insertWithin(client: OAuthClientRecord & { organization_id: string }, audit: OutboxEntry<'audit'>) {
      const { _id: id, organization_id } = client;
      await writeWithin(organization_id, id, async () => {
        if (await insertOnce(clients, { ...client, ...initialOutbox(organization_id, [audit]) })) return;
        await clients.updateOne({ _id: id, organization_id, ...LIVE }, { $set: { secret_hash: client.secret_hash } });
      });
    },

    /**
     * Stores a client that registered itself, and removes those that expired. If there are too many, it takes the place
     * of the one that would expire first: nobody has consented to that one, or it has got no token for longest.
     */
    async insertRegistered(client: OAuthClientRecord): Promise<void> {
      const { created_at } = client;
      await deleteInPortions(clients, { organization_id: null, expires_at: { $lte: created_at } });
      // Earlier versions kept those that were used for ever.
      const endless = { organization_id: null, expires_at: null };
      await updateInPortions(clients, endless, { $set: { expires_at: new Date(created_at.getTime() + USED_MS) } });
      const excess = (await clients.countDocuments({ organization_id: null })) + 1 - registeredMax;
      if (excess > 0) {
        const first = clients.find({ organization_id: null }).sort({ expires_at: 1 }).limit(excess);
        const ids = (await first.project<Pick<StoredClient, '_id'>>({ _id: 1 }).toArray()).map(({ _id }) => _id);
        await clients.deleteMany({ _id: { $in: ids }, organization_id: null });
      }
      await insertOnce(clients, client);
    },

    /** Keeps a client that registered itself, because it is used at `now`. Returns whether its end changed. */
    async keepRegistered({ _id, expires_at }: OAuthClientRecord, now: Date): Promise<boolean> {
      const until = new Date(now.getTime() + USED_MS);
      if (expires_at && until.getTime() - expires_at.getTime() < EXACT_TO_MS) return false;
      await clients.updateOne({ _id, organization_id: null }, { $set: { expires_at: until } });
      return true;
    },

    /** A client of any organization; null if it does not exist, was deleted or has expired at `now`. */
    async findById(id: string, now: Date): Promise<OAuthClientRecord | null> {
      const client = await clients.findOne({ _id: id, ...LIVE });
      return client && (client.expires_at === null || client.expires_at > now) ? client : null;
    },

    /** A client of this organization; null if it does not exist, was deleted or belongs to another one. */
    async find(organizationId: string, id: string): Promise<OAuthClientRecord | null> {
      return clients.findOne({ _id: id, organization_id: organizationId, ...LIVE });
    },

    /** The organization's clients, oldest first. */
    async listOf(organizationId: string): Promise<OAuthClientRecord[]> {
      return clients
        .find({ organization_id: organizationId, ...LIVE })
        .sort({ created_at: 1 })
        .toArray();
    },

    /** Deletes a client: its record is kept for the audit log, and not found any more. */
    async delete({ _id, organization_id }: OAuthClientRecord, audit: OutboxEntry<'audit'>): Promise<void> {
      const update = { $set: { deleted_at: audit.at }, ...pushToOutbox(organization_id ?? '', [audit]) };
      await clients.updateOne({ _id, organization_id, ...LIVE }, update);
    },

    /** The outboxes of clients. */
    outbox: outboxSource<ClientWithOutbox>(
      'oauth_clients',
      clients as unknown as Collection<ClientWithOutbox>,
      [],
      ({ organization_id }) => ({ organizationId: organization_id, scanId: '', campaignId: null }),
    ),
  };
}
