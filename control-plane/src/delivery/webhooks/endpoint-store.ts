import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox, OUTBOX_INDEXES, outboxSource, pushToOutbox } from '../../platform/outbox/outbox-source.ts';
import { pickAtRandom } from '../../platform/pick-at-random.ts';
import { atTheirLimit, type Serving, withinLimits } from '../../platform/start-pool.ts';
import type { Collection, Store, UpdateFilter } from '../../platform/store.ts';
import type { EndpointRecord, newEndpoint, Warning } from './endpoint.ts';
import type { Health } from './health.ts';

/** The only code that accesses webhook endpoints. Queries of clients filter by organization first. */
export type EndpointStore = ReturnType<typeof endpointStore>;

/** What a claim holds: the endpoint as it was then, under the fence of the claim. */
export type ClaimedEndpoint = Pick<EndpointRecord, '_id' | 'organization_id' | 'fence'>;

/** An endpoint with a mail that is to be sent. */
export type WarnedEndpoint = EndpointRecord & { warning: Warning };

/** Endpoints of one organization. */
export const ENDPOINTS_MAX = 20;

/** An endpoint that was not deleted. */
const LIVE = { deleted_at: { $exists: false } };

/** Candidates that are read for each endpoint that is claimed, so that dispatchers do not all try the same ones. */
const CANDIDATES_PER_CLAIM = 4;

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
      organizationId: organization_id,
      scanId: '',
      campaignId: null,
    })),

    async createIndexes(): Promise<void> {
      await endpoints.createIndexes([
        { key: { organization_id: 1, deleted_at: 1 } },
        { key: { due_at: 1 }, sparse: true },
        { key: { 'warning.due_at': 1 }, sparse: true },
        { key: { 'health.failing_since': 1 } },
        ...OUTBOX_INDEXES,
      ]);
    },

    /** Stores a new endpoint and returns it; the one with this id, if it was stored before. Throws 409 if the organization has too many. */
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

    /** Changes an endpoint that is still as it was at `revision`, and returns the new record; null: it was changed or removed meanwhile. */
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

    /** Deletes an endpoint: its record is kept for the audit log, without its secrets, and not found any more. Null: there is none. */
    async delete(organization_id: string, _id: string, audit: OutboxEntry<'audit'>): Promise<EndpointRecord | null> {
      const update = {
        $set: { deleted_at: audit.at, is_active: false, secret: '', earlier_secrets: [] },
        $inc: { revision: 1 },
        $unset: { due_at: '', claimed_until: '', warning: '' },
        ...pushToOutbox(organization_id, [audit]),
      } as unknown as UpdateFilter<EndpointRecord>;
      return endpoints.findOneAndUpdate({ _id, organization_id, ...LIVE }, update);
    },

    /**
     * Counts deliveries that were queued for these endpoints, then makes those of them due that nothing else makes due: one that fails is due
     * when its pause ends, and one that is claimed looks again. Returns whether any became due.
     */
    async queued(organization_id: string, ids: string[], now: Date): Promise<boolean> {
      await endpoints.updateMany({ organization_id, _id: { $in: ids } }, { $inc: { arrivals: 1 } });
      const idle = { organization_id, _id: { $in: ids }, is_active: true, due_at: { $exists: false } };
      return (await endpoints.updateMany(idle, { $set: { due_at: dueAtOnce(now) } })).modifiedCount > 0;
    },

    /**
     * Claims up to `limit` of the endpoints that are due, each for one caller, until `until`, of each organization as many as `serving` allows.
     * `hasMore`: further ones are due.
     */
    async claimDue(
      now: Date,
      until: Date,
      limit: number,
      serving: Serving,
    ): Promise<{ claimed: EndpointRecord[]; hasMore: boolean }> {
      const due = await endpoints
        .find({ due_at: { $lte: now }, organization_id: { $nin: atTheirLimit(serving) }, ...unclaimed(now) })
        .sort({ due_at: 1 })
        .limit(limit * CANDIDATES_PER_CLAIM)
        .project<Pick<EndpointRecord, '_id' | 'organization_id'>>({ organization_id: 1 })
        .toArray();
      const claims = await inTurns(withinLimits(pickAtRandom(due, limit), serving), ({ _id, organization_id }) =>
        endpoints.findOneAndUpdate(
          { _id, organization_id, is_active: true, due_at: { $lte: now }, ...unclaimed(now) },
          { $set: { claimed_until: until, due_at: until }, $inc: { fence: 1 } },
          { returnDocument: 'after' },
        ),
      );
      const claimed = claims.filter((one) => one !== null);
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

    /**
     * Writes the health of a claimed endpoint, and a warning that is to be mailed, and extends the claim, unless it has started anew since (`epoch`);
     * null then, or if the claim is lost.
     */
    async setHealth(
      claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch'>,
      health: Health,
      until: Date,
      warning?: Warning,
    ): Promise<EndpointRecord | null> {
      const update = { $set: { health, claimed_until: until, due_at: until, ...(warning && { warning }) } };
      return endpoints.findOneAndUpdate(active(claim), update, { returnDocument: 'after' });
    },

    /** Switches a claimed endpoint off, which ends the claim; false if it has started anew since, or the claim is lost. */
    async switchOff(
      claim: ClaimedEndpoint & Pick<EndpointRecord, 'epoch'>,
      disabled: NonNullable<EndpointRecord['disabled']>,
      warning: Warning,
    ): Promise<boolean> {
      const update = {
        $set: { is_active: false, disabled, updated_at: disabled.at, 'health.paused_until': null, warning },
        $inc: { revision: 1 },
        $unset: { due_at: '', claimed_until: '' },
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

    /** Takes the endpoint whose warning has been due longest, until `until`; null: none is due. */
    async takeWarning(now: Date, until: Date): Promise<WarnedEndpoint | null> {
      const update = { $set: { 'warning.due_at': until }, $inc: { 'warning.tries': 1 } };
      const options = { sort: { 'warning.due_at': 1 }, returnDocument: 'after' } as const;
      const taken = await endpoints.findOneAndUpdate({ 'warning.due_at': { $lte: now } }, update as object, options);
      return taken as WarnedEndpoint | null;
    },

    /** Ends a try of a warning. `dueAt`: when it is due again; null: never. */
    async endWarning({ _id, organization_id, warning }: WarnedEndpoint, dueAt: Date | null): Promise<void> {
      const update = dueAt ? { $set: { 'warning.due_at': dueAt } } : { $unset: { warning: '' } };
      // Another warning may have taken its place meanwhile.
      await endpoints.updateOne({ _id, organization_id, 'warning.at': warning.at }, update as object);
    },
  };
}
