import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { CLAIM_INDEXES, NOT_DUE } from '../../platform/claims.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox, OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import type { Collection, Store, UpdateFilter } from '../../platform/store.ts';
import type { EndpointRecord, newEndpoint } from './endpoint.ts';
import { endpointClaims } from './endpoint-claim-store.ts';
import { endpointWarnings } from './endpoint-warning-store.ts';

/** The only code that accesses webhook endpoints. Queries of clients filter by organization first. */
export type EndpointStore = ReturnType<typeof endpointStore>;

/** Endpoints of one organization. */
export const ENDPOINTS_MAX = 20;

/** An endpoint that was not deleted. */
const LIVE = { deleted_at: { $exists: false } };

export function endpointStore(store: Store) {
  const endpoints: Collection<EndpointRecord> = store.collection<EndpointRecord>('webhook_endpoints');
  const writeWithin = boundedNumber(store, 'webhook_endpoints', {
    records: endpoints,
    where: LIVE,
    most: ENDPOINTS_MAX,
    refuse: () => new ApiError('webhooks.too_many', `There can be at most ${ENDPOINTS_MAX} webhook endpoints.`),
  });

  const find = (organization_id: string, _id: string): Promise<EndpointRecord | null> =>
    endpoints.findOne({ _id, organization_id, ...LIVE });

  return {
    outbox: outboxSource('webhook_endpoints', endpoints, [], ({ organization_id }) => ({
      organizationId: organization_id,
      scanId: '',
      campaignId: null,
    })),

    async createIndexes(): Promise<void> {
      await endpoints.createIndexes([
        { key: { organization_id: 1, deleted_at: 1 } },
        ...CLAIM_INDEXES,
        { key: { 'warning.due_at': 1 }, sparse: true },
        { key: { 'health.failing_since': 1 } },
        ...OUTBOX_INDEXES,
      ]);
    },

    ...endpointClaims(endpoints),
    ...endpointWarnings(endpoints),

    /**
     * Stores a new endpoint and returns it; the one with this id, if it was stored before. Throws 409 if the
     * organization has too many.
     */
    async insertWithin(record: ReturnType<typeof newEndpoint>, follows: OutboxEntry[]): Promise<EndpointRecord> {
      const { _id: id, organization_id } = record;
      const whole: EndpointRecord = { ...record, ...initialOutbox(organization_id, follows) };
      return writeWithin(organization_id, id, async () => {
        const isNew = await insertOnce(endpoints, whole);
        return isNew ? whole : ((await endpoints.findOne({ _id: id, organization_id })) ?? whole);
      });
    },

    find,

    /** The organization's endpoints, oldest first. */
    async listOf(organization_id: string): Promise<EndpointRecord[]> {
      const found = await endpoints.find({ organization_id, ...LIVE }).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    /**
     * Changes an endpoint that is still as it was at `revision`, and returns the new record; null: it was changed or
     * removed meanwhile.
     */
    async change(
      { _id, organization_id, revision }: EndpointRecord,
      { set, unset = [], follows }: { set: Partial<EndpointRecord>; unset?: 'due_at'[]; follows: OutboxEntry[] },
    ): Promise<EndpointRecord | null> {
      const update = {
        $set: set,
        $inc: { revision: 1 },
        ...pushToOutbox(organization_id, follows),
        ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((field) => [field, ''])) }),
      };
      return endpoints.findOneAndUpdate({ _id, organization_id, revision }, update as UpdateFilter<EndpointRecord>, {
        returnDocument: 'after',
      });
    },

    /**
     * Deletes an endpoint: its record is kept for the audit log, without its secrets, and not found any more. Null:
     * there is none.
     */
    async delete(organization_id: string, _id: string, audit: OutboxEntry<'audit'>): Promise<EndpointRecord | null> {
      const update = {
        $set: { deleted_at: audit.at, is_active: false, secret: '', earlier_secrets: [] },
        $inc: { revision: 1 },
        $unset: { ...NOT_DUE, warning: '' },
        ...pushToOutbox(organization_id, [audit]),
      } as unknown as UpdateFilter<EndpointRecord>;
      return endpoints.findOneAndUpdate({ _id, organization_id, ...LIVE }, update);
    },

    /** The number of active endpoints that fail, counted up to `limit`. */
    async countFailing(limit: number): Promise<number> {
      return endpoints.countDocuments({ 'health.failing_since': { $gt: new Date(0) }, is_active: true }, { limit });
    },
  };
}
