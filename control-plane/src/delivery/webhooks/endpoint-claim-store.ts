import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import { pickAtRandom } from '../../platform/pick-at-random.ts';
import { atTheirLimit, type Serving, withinLimits } from '../../platform/start-pool.ts';
import type { Collection, UpdateFilter } from '../../platform/store.ts';
import type { EndpointRecord, Warning } from './endpoint.ts';
import type { Health } from './health.ts';

/** What a claim holds: the endpoint as it was then, under the fence of the claim. */
type ClaimedEndpoint = Pick<EndpointRecord, '_id' | 'organization_id' | 'fence'>;

/** Candidates that are read for each endpoint that is claimed, so that dispatchers do not all try the same ones. */
const CANDIDATES_PER_CLAIM = 4;

/** The claims of endpoints that have something to send, each by one dispatcher at a time. */
export function endpointClaims(endpoints: Collection<EndpointRecord>) {
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
    /**
     * Counts deliveries that were queued for these endpoints, then makes those of them due that nothing else makes due:
     * one that fails is due when its pause ends, and one that is claimed looks again. Returns whether any became due.
     */
    async queued(organization_id: string, ids: string[], now: Date): Promise<boolean> {
      await endpoints.updateMany({ organization_id, _id: { $in: ids } }, { $inc: { arrivals: 1 } });
      const idle = { organization_id, _id: { $in: ids }, is_active: true, due_at: { $exists: false } };
      return (await endpoints.updateMany(idle, { $set: { due_at: dueAtOnce(now) } })).modifiedCount > 0;
    },

    /**
     * Claims up to `limit` of the endpoints that are due, each for one caller, until `until`, of each organization as
     * many as `serving` allows. `hasMore`: further ones are due.
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

    /**
     * The claimed endpoint as it is now, with its claim extended; null: the claim is lost, or the endpoint is gone or
     * no longer active.
     */
    async extend(claim: ClaimedEndpoint, until: Date): Promise<EndpointRecord | null> {
      const update = { $set: { claimed_until: until, due_at: until } };
      return endpoints.findOneAndUpdate({ ...held(claim), is_active: true }, update, { returnDocument: 'after' });
    },

    /**
     * Writes the health of a claimed endpoint, and a warning that is to be mailed, and extends the claim, unless it has
     * started anew since (`epoch`); null then, or if the claim is lost.
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

    /**
     * Switches a claimed endpoint off, which ends the claim; false if it has started anew since, or the claim is lost.
     */
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
     * Ends a claim. `dueAt`: when the endpoint is due next; null: when a delivery is queued. False if that has happened
     * since `arrivals` was read, or the endpoint has started anew; the claim goes on then.
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
