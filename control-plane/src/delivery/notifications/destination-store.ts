import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { CLAIM_INDEXES, type Claim, claimsOf, held, NOT_DUE } from '../../platform/claims.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import { inPortions } from '../../platform/in-portions.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store, UpdateFilter } from '../../platform/store.ts';
import type { Routed } from './choose-destinations.ts';
import type { DestinationRecord } from './destination.ts';
import { type DestinationHealth, HEALTHY } from './destination-health.ts';

/** The only code that accesses destinations. Queries of clients filter by organization first. */
export type DestinationStore = ReturnType<typeof destinationStore>;

/** Destinations of one organization: all of them are read for each alert. */
const DESTINATIONS_MAX = 50;
/** Destinations that are changed in one piece: each may have labels and texts of many KB. */
const WOKEN_AT_ONCE = 10;

const ROUTED = {
  is_active: 1,
  is_default_target: 1,
  included_statuses: 1,
  route_label_key: 1,
  route_label_values: 1,
} as const satisfies Record<Exclude<keyof Routed, '_id'>, 1>;

export function destinationStore(store: Store) {
  const destinations: Collection<DestinationRecord> = store.collection<DestinationRecord>('destinations');

  const writeWithin = boundedNumber(store, 'destinations', {
    records: destinations,
    most: DESTINATIONS_MAX,
    refuse: () =>
      new ApiError('notifications.too_many_destinations', `There can be at most ${DESTINATIONS_MAX} destinations.`),
  });

  return {
    ...claimsOf(destinations),

    async createIndexes(): Promise<void> {
      await destinations.createIndexes([{ key: { organization_id: 1, created_at: 1, _id: 1 } }, ...CLAIM_INDEXES]);
    },

    /** Stores a destination, unless one with this id exists. Throws 409 if its organization has too many. */
    async insertWithin(destination: DestinationRecord): Promise<void> {
      const { _id, organization_id } = destination;
      await writeWithin(organization_id, _id, () => insertOnce(destinations, destination));
    },

    /** A destination of this organization; null: missing, or another organization's. */
    async find(organization_id: string, _id: string): Promise<DestinationRecord | null> {
      return destinations.findOne({ _id, organization_id });
    },

    /** All destinations of an organization, the oldest first: their number is bounded. */
    async list(organization_id: string): Promise<DestinationRecord[]> {
      return destinations.find({ organization_id }).sort({ created_at: 1, _id: 1 }).toArray();
    },

    /** Changes settings; null: it does not exist. `anew`: its failures are forgotten, and what waits is due. */
    async change(
      organization_id: string,
      _id: string,
      set: Partial<DestinationRecord>,
      anew: { now: Date } | null,
    ): Promise<DestinationRecord | null> {
      const update = {
        $set: { ...set, ...(anew && { health: HEALTHY, due_at: dueAtOnce(anew.now) }) },
        // A message that is under way must not change the new health.
        ...(anew && { $inc: { fence: 1 }, $unset: { claimed_until: '' } }),
        ...(set.is_active === false && { $unset: NOT_DUE }),
      } as UpdateFilter<DestinationRecord>;
      return destinations.findOneAndUpdate({ _id, organization_id }, update, { returnDocument: 'after' });
    },

    async delete(organization_id: string, _id: string): Promise<boolean> {
      return (await destinations.deleteOne({ _id, organization_id })).deletedCount === 1;
    },

    /** What alerts are routed by, of all destinations of the organization. */
    async routed(organization_id: string): Promise<Routed[]> {
      return destinations.find({ organization_id }).project<Routed>(ROUTED).toArray();
    },

    /** Notes that a notice was queued for each of these destinations, which is due at this moment. */
    async wake(organization_id: string, ids: string[], dueAt: Date): Promise<void> {
      await inPortions(ids, WOKEN_AT_ONCE, (portion) =>
        destinations.updateMany(
          { _id: { $in: portion }, organization_id, is_active: true },
          { $min: { due_at: dueAt }, $inc: { arrivals: 1 } },
        ),
      );
    },

    /**
     * Writes the health of a claimed destination. `off`: it is switched off too, which ends the claim. False: the claim
     * is lost.
     */
    async setHealth(claim: Claim, health: DestinationHealth, off: { now: Date } | null): Promise<boolean> {
      const update = {
        $set: {
          health: off ? { ...health, paused_until: null } : health,
          ...(off && { is_active: false, disabled_reason: 'failing' as const, updated_at: off.now }),
        },
        ...(off && { $unset: NOT_DUE }),
      } as UpdateFilter<DestinationRecord>;
      return (await destinations.updateOne(held(claim), update)).matchedCount === 1;
    },
  };
}
