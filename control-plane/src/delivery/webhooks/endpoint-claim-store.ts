import { type Claim, claimedUntil, claimsOf, held, NOT_DUE } from '../../platform/claims.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import type { Collection, UpdateFilter } from '../../platform/store.ts';
import type { EndpointRecord, Warning } from './endpoint.ts';
import type { Health } from './health.ts';

/**
 * What a claim holds: the endpoint as it was then, under the fence of the claim. `epoch`: it has not started anew
 * since.
 */
type ClaimedEndpoint = Pick<EndpointRecord, '_id' | 'organization_id' | 'fence' | 'epoch'>;

/** The claims of endpoints that have something to send, each by one dispatcher at a time. */
export function endpointClaims(endpoints: Collection<EndpointRecord>) {
  const claims = claimsOf(endpoints);
  const active = (claim: ClaimedEndpoint) => ({ ...held(claim), epoch: claim.epoch, is_active: true });

  return {
    ...claims,

    /**
     * Counts deliveries that were queued for these endpoints, then makes those of them due that nothing else makes due:
     * one that is paused is due when its pause ends, and one that is claimed looks again. Returns whether any became
     * due.
     */
    async queued(organization_id: string, ids: string[], now: Date): Promise<boolean> {
      await endpoints.updateMany({ organization_id, _id: { $in: ids } }, { $inc: { arrivals: 1 } });
      const nothingDue = { due_at: { $exists: false } };
      // It is due for its warning or its end alone, which may be hours away.
      const pauseIsOver = { claimed_until: { $exists: false }, 'health.paused_until': { $lte: now } };
      const idle = { organization_id, _id: { $in: ids }, is_active: true, $or: [nothingDue, pauseIsOver] };
      return (await endpoints.updateMany(idle, { $min: { due_at: dueAtOnce(now) } })).modifiedCount > 0;
    },

    /**
     * Writes the health of a claimed endpoint, and a warning that is to be mailed, and extends the claim, unless it has
     * started anew since (`epoch`); null then, or if the claim is lost.
     */
    async setHealth(
      claim: ClaimedEndpoint,
      health: Health,
      until: Date,
      warning?: Warning,
    ): Promise<EndpointRecord | null> {
      const update = { $set: { health, ...claimedUntil(until), ...(warning && { warning }) } };
      return endpoints.findOneAndUpdate(active(claim), update, { returnDocument: 'after' });
    },

    /**
     * Switches a claimed endpoint off, which ends the claim; false if it has started anew since, or the claim is lost.
     */
    async switchOff(
      claim: ClaimedEndpoint,
      disabled: NonNullable<EndpointRecord['disabled']>,
      warning: Warning,
    ): Promise<boolean> {
      const update = {
        $set: { is_active: false, disabled, updated_at: disabled.at, 'health.paused_until': null, warning },
        $inc: { revision: 1 },
        $unset: NOT_DUE,
      } as unknown as UpdateFilter<EndpointRecord>;
      return (await endpoints.updateOne(active(claim), update)).matchedCount === 1;
    },

    /** Whether an endpoint is still as it was read: nobody has changed, deleted or switched it off. */
    async isUnchanged({ _id, revision }: Pick<EndpointRecord, '_id' | 'revision'>): Promise<boolean> {
      return (await endpoints.countDocuments({ _id, revision }, { limit: 1 })) === 1;
    },

    /** As {@link claimsOf} says; false also if the endpoint has started anew: the claim goes on then. */
    release: (claim: EndpointRecord, dueAt: Date | null): Promise<boolean> =>
      claims.release(claim, dueAt, { epoch: claim.epoch }),

    /** Ends a claim without a change of what is due. */
    async drop(claim: Claim): Promise<void> {
      await endpoints.updateOne(held(claim), { $unset: { claimed_until: '' } } as UpdateFilter<EndpointRecord>);
    },
  };
}
