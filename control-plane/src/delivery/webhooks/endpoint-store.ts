import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox, OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import { pickAtRandom } from '../../platform/pick-at-random.ts';
import { type Collection, isDuplicateKey, type Store, type UpdateFilter } from '../../platform/store.ts';
import { ENDPOINTS_MAX, type EndpointRecord, type newEndpoint } from './endpoint.ts';
import type { Health } from './health.ts';

/** The only code that accesses webhook endpoints. Queries of clients filter by organization first. */
export type EndpointStore = ReturnType<typeof endpointStore>;

/** What a claim holds: the endpoint as it was then, under the fence of the claim. */
export type ClaimedEndpoint = Pick<EndpointRecord, '_id' | 'organization_id' | 'fence'>;

/** Candidates that are read for each endpoint that is claimed, so that dispatchers do not all try the same ones. */
const CANDIDATES_PER_CLAIM = 4;

export function endpointStore(store: Store) {
  const endpoints: Collection<EndpointRecord> = store.collection<EndpointRecord>('webhook_endpoints');

  const find = (organization_id: string, _id: string): Promise<EndpointRecord | null> =>
    endpoints.findOne({ _id, organization_id });
  const held = ({ _id, organization_id, fence }: ClaimedEndpoint) => ({ _id, organization_id, fence });
  const active = (claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch'>) => ({
    ...held(claim),
    epoch: claim.epoch,
    is_active: true,
  });
  const unclaimed = (now: Date) => ({
    $or: [{ claimed_until: { $exists: false } }, { claimed_until: { $lt: now } }],
  });

  return {
    outbox: outboxSource('webhook_endpoints', endpoints, [], ({ organization_id }) => ({
      ...{ organizationId: organization_id, scanId: '', campaignId: null },
    })),

    async createIndexes(): Promise<void> {
      await endpoints.createIndexes([
        { key: { organization_id: 1, slot: 1 }, unique: true },
        { key: { due_at: 1 }, sparse: true },
        { key: { 'health.failing_since': 1 } },
        ...OUTBOX_INDEXES,
      ]);
    },

    /**
     * Stores a new endpoint in a free slot; the one with this id, if it was stored before; null if the organization has no slot left.
     * Requests at the same moment get different slots, because the index refuses the second one.
     */
    async insert(record: ReturnType<typeof newEndpoint>, follows: OutboxEntry[]): Promise<EndpointRecord | null> {
      for (;;) {
        const earlier = await find(record.organization_id, record._id);
        if (earlier) return earlier;
        const taken = await endpoints
          .find({ organization_id: record.organization_id })
          .project<Pick<EndpointRecord, 'slot'>>({ slot: 1 })
          .toArray();
        const slots = new Set(taken.map(({ slot }) => slot));
        const slot = Array.from({ length: ENDPOINTS_MAX }, (_, at) => at).find((at) => !slots.has(at));
        if (slot === undefined) return null;
        const whole: EndpointRecord = { ...record, slot, ...initialOutbox(follows) };
        try {
          await endpoints.insertOne(whole);
          return whole;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },

    find,

    /** The organization's endpoints, oldest first. */
    async listOf(organization_id: string): Promise<EndpointRecord[]> {
      const found = await endpoints.find({ organization_id }).limit(ENDPOINTS_MAX).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    /** Changes an endpoint that is still as it was at `revision`, and returns the new record; null: it was changed or removed meanwhile. */
    async change(
      { _id, organization_id, revision }: EndpointRecord,
      { set, unset = [], follows }: { set: Partial<EndpointRecord>; unset?: 'due_at'[]; follows: OutboxEntry[] },
    ): Promise<EndpointRecord | null> {
      const update = {
        ...{ $set: set, $inc: { revision: 1 }, ...pushToOutbox(follows) },
        ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((field) => [field, ''])) }),
      };
      return endpoints.findOneAndUpdate({ _id, organization_id, revision }, update as UpdateFilter<EndpointRecord>, {
        returnDocument: 'after',
      });
    },

    /** Removes an endpoint; false: there is none. Its deliveries expire. */
    async remove(organization_id: string, _id: string): Promise<EndpointRecord | null> {
      return endpoints.findOneAndDelete({ _id, organization_id });
    },

    /**
     * Counts deliveries that were queued for these endpoints, then makes those of them due that nothing else makes due: one that fails is due
     * when its pause ends, and one that is claimed looks again. Returns whether any became due.
     */
    async queued(organization_id: string, ids: string[], now: Date): Promise<boolean> {
      await endpoints.updateMany({ organization_id, _id: { $in: ids } }, { $inc: { arrivals: 1 } });
      const idle = { organization_id, _id: { $in: ids }, is_active: true, due_at: { $exists: false } };
      return (await endpoints.updateMany(idle, { $set: { due_at: now } })).modifiedCount > 0;
    },

    /** Claims up to `limit` of the endpoints that are due, each for one caller, until `until`. `hasMore`: further ones are due. */
    async claimDue(now: Date, until: Date, limit: number): Promise<{ claimed: EndpointRecord[]; hasMore: boolean }> {
      const due = await endpoints
        .find({ due_at: { $lte: now }, ...unclaimed(now) })
        .sort({ due_at: 1 })
        .limit(limit * CANDIDATES_PER_CLAIM)
        .project<Pick<EndpointRecord, '_id' | 'organization_id'>>({ organization_id: 1 })
        .toArray();
      const claims = pickAtRandom(due, limit).map(({ _id, organization_id }) =>
        endpoints.findOneAndUpdate(
          { _id, organization_id, is_active: true, due_at: { $lte: now }, ...unclaimed(now) },
          { $set: { claimed_until: until, due_at: until }, $inc: { fence: 1 } },
          { returnDocument: 'after' },
        ),
      );
      const claimed = (await Promise.all(claims)).filter((one) => one !== null);
      return { claimed, hasMore: claimed.length < due.length };
    },

    /** The number of active endpoints that fail, counted up to `limit`. */
    async countFailing(limit: number): Promise<number> {
      return endpoints.countDocuments({ 'health.failing_since': { $gt: new Date(0) }, is_active: true }, { limit });
    },

    /** When the next endpoint becomes due; null: none. */
    async nextDueAt(): Promise<Date | null> {
      const [next] = await endpoints
        .find({ due_at: { $exists: true } })
        .sort({ due_at: 1 })
        .limit(1)
        .project<Pick<EndpointRecord, 'due_at'>>({ due_at: 1 })
        .toArray();
      return next?.due_at ?? null;
    },

    /** The claimed endpoint as it is now, with its claim extended; null: the claim is lost, or the endpoint is gone or no longer active. */
    async extend(claim: ClaimedEndpoint, until: Date): Promise<EndpointRecord | null> {
      const update = { $set: { claimed_until: until, due_at: until } };
      return endpoints.findOneAndUpdate({ ...held(claim), is_active: true }, update, { returnDocument: 'after' });
    },

    /** Writes the health of a claimed endpoint, unless it has started anew since (`epoch`); null then, or if the claim is lost. */
    async setHealth(
      claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch'>,
      health: Health,
      follows: OutboxEntry[] = [],
    ): Promise<EndpointRecord | null> {
      const update = { $set: { health }, ...pushToOutbox(follows) } as UpdateFilter<EndpointRecord>;
      return endpoints.findOneAndUpdate(active(claim), update, { returnDocument: 'after' });
    },

    /** Switches a claimed endpoint off, which ends the claim; false if it has started anew since, or the claim is lost. */
    async switchOff(
      claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch'>,
      disabled: NonNullable<EndpointRecord['disabled']>,
      follows: OutboxEntry[],
    ): Promise<boolean> {
      const update = {
        $set: { is_active: false, disabled, updated_at: disabled.at, 'health.paused_until': null },
        $inc: { revision: 1 },
        $unset: { due_at: '', claimed_until: '' },
        ...pushToOutbox(follows),
      } as unknown as UpdateFilter<EndpointRecord>;
      return (await endpoints.updateOne(active(claim), update)).matchedCount === 1;
    },

    /**
     * Ends a claim. `dueAt`: when the endpoint is due next; null: when a delivery is queued. False if that has happened since `arrivals` was read, or
     * the endpoint has started anew; the claim goes on then.
     */
    async release(
      claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch' | 'arrivals'>,
      dueAt: Date | null,
    ): Promise<boolean> {
      const same = { ...held(claim), epoch: claim.epoch, ...(dueAt === null && { arrivals: claim.arrivals }) };
      const update = dueAt
        ? { $set: { due_at: dueAt }, $unset: { claimed_until: '' } }
        : { $unset: { due_at: '', claimed_until: '' } };
      return (await endpoints.updateOne(same, update as UpdateFilter<EndpointRecord>)).matchedCount === 1;
    },

    /** Ends a claim without a change of what is due. */
    async drop(claim: ClaimedEndpoint): Promise<void> {
      await endpoints.updateOne(held(claim), { $unset: { claimed_until: '' } } as UpdateFilter<EndpointRecord>);
    },
  };
}
