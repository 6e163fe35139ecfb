import { DAY_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { gatherByKey } from '../../platform/gather-by-key.ts';
import { FOUND_AT_ONCE, inPortions, updateInPortions } from '../../platform/in-portions.ts';
import { insertAllOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import type { Attempt, AttemptRecord, DeliveryRecord } from './delivery.ts';
import { WINDOW_MS } from './health.ts';

/** Spec 6: replayable for seven days, then deleted. */
export const KEPT_MS = 7 * DAY_MS;

/** The deliveries of one endpoint. */
export type OfEndpoint = Pick<DeliveryRecord, 'organization_id' | 'endpoint_id'>;

/** Which attempts a log shows; absent: all. */
export type AttemptFilter = { succeeded?: boolean | undefined; from?: Date | undefined; to?: Date | undefined };

const WRITTEN_AT_ONCE = 200;
const OLDEST = { window_from: 1, sequence: 1, _id: 1 } as const;

/** The only code that accesses deliveries and their attempts. */
export type DeliveryStore = ReturnType<typeof deliveryStore>;

export function deliveryStore(store: Store) {
  const deliveries: Collection<DeliveryRecord> = store.collection<DeliveryRecord>('webhook_deliveries');
  const attempts: Collection<AttemptRecord> = store.collection<AttemptRecord>('webhook_attempts');
  const writeTries = gatherByKey<AttemptRecord, undefined>(async (_key, tries) => {
    await insertAllOnce(attempts, tries);
    const idsOf = (isDelivered: boolean): string[] =>
      tries.filter(({ succeeded }) => succeeded === isDelivered).map(({ delivery_id }) => delivery_id);
    const [delivered, failed] = [idsOf(true), idsOf(false)];
    const counted = { $inc: { attempts: 1 } };
    if (delivered.length > 0)
      await deliveries.updateMany({ _id: { $in: delivered } }, { $set: { state: 'delivered' }, ...counted });
    // Another dispatcher may have delivered it after this one had lost its claim: that remains.
    if (failed.length > 0) await deliveries.updateMany({ _id: { $in: failed }, state: 'waiting' }, counted);
    return tries.map(() => undefined);
  }, WRITTEN_AT_ONCE);
  const kept = { expireAfterSeconds: KEPT_MS / 1000 };

  return {
    async createIndexes(): Promise<void> {
      await deliveries.createIndexes([
        { key: { organization_id: 1, endpoint_id: 1, state: 1, ...OLDEST } },
        { key: { state: 1, window_from: 1 } },
        { key: { occurred_at: 1 }, ...kept },
      ]);
      await attempts.createIndexes([
        { key: { organization_id: 1, endpoint_id: 1, at: -1, _id: -1 } },
        { key: { at: 1 }, ...kept },
      ]);
    },

    /** Stores deliveries, except those that exist. */
    async add(made: DeliveryRecord[]): Promise<void> {
      if (made.length > 0) await insertAllOnce(deliveries, made);
    },

    /** The oldest deliveries of an endpoint that wait. */
    async oldestWaiting({ organization_id, endpoint_id }: OfEndpoint, limit: number): Promise<DeliveryRecord[]> {
      return deliveries.find({ organization_id, endpoint_id, state: 'waiting' }).sort(OLDEST).limit(limit).toArray();
    },

    /** Writes a try; if it succeeded, its delivery is delivered. Tries that end together are written together. */
    async tried(delivery: DeliveryRecord, attempt: Attempt, succeeded: boolean): Promise<void> {
      const { _id: delivery_id, organization_id, endpoint_id, event_id, kind } = delivery;
      const of = {
        delivery_id,
        organization_id,
        endpoint_id,
        event_id,
        kind,
        number: delivery.attempts + 1,
        succeeded,
      };
      await writeTries('', { _id: newId(), ...of, ...attempt });
    },

    /** Ends a delivery that is not tried. */
    async drop({ _id }: Pick<DeliveryRecord, '_id'>): Promise<void> {
      await deliveries.updateOne({ _id, state: 'waiting' }, { $set: { state: 'dropped' } });
    },

    /** Ends the deliveries of an endpoint whose window began before `until`; their number. */
    async expire({ organization_id, endpoint_id }: OfEndpoint, until: Date): Promise<number> {
      const over = { organization_id, endpoint_id, state: 'waiting' as const, window_from: { $lte: until } };
      return updateInPortions(deliveries, over, { $set: { state: 'expired' } });
    },

    /**
     * Makes deliveries wait again, whatever became of them; they have their 24 hours from `now`. Returns how many there
     * still are.
     */
    async replay(ids: string[], now: Date): Promise<number> {
      const again = { $set: { state: 'waiting' as const, window_from: now } };
      return (await deliveries.updateMany({ _id: { $in: ids } }, again)).matchedCount;
    },

    /**
     * Moves those of these deliveries that wait to the end of the queue of their endpoint: they have their 24 hours
     * from `now`.
     */
    async moveToEnd(ids: string[], now: Date): Promise<void> {
      const waiting = {
        state: 'waiting' as const,
        window_from: { $gt: new Date(now.getTime() - WINDOW_MS), $lt: now },
      };
      await inPortions(ids, FOUND_AT_ONCE, (portion) =>
        deliveries.updateMany({ _id: { $in: portion }, ...waiting }, { $set: { window_from: now } }),
      );
    },

    /** Of these deliveries, the ids of those that were taken. */
    async takenOf(ids: string[]): Promise<Set<string>> {
      const taken = deliveries.find({ _id: { $in: ids }, state: 'delivered' }).project<{ _id: string }>({ _id: 1 });
      return new Set((await taken.toArray()).map(({ _id }) => _id));
    },

    /** A page of the tries of an endpoint, newest first, and their number. */
    async log(
      { organization_id, endpoint_id }: OfEndpoint,
      { succeeded, from, to }: AttemptFilter,
      { skip, limit }: { skip: number; limit: number },
    ) {
      const at = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
      const filter: Filter<AttemptRecord> = {
        organization_id,
        endpoint_id,
        ...(succeeded !== undefined && { succeeded }),
        ...((from || to) && { at }),
      };
      const page = attempts.find(filter).sort({ at: -1, _id: -1 }).skip(skip).limit(limit);
      const [rows, total] = await Promise.all([page.toArray(), attempts.countDocuments(filter)]);
      return { rows, total };
    },

    /** A try of this organization; null: there is none. */
    async findAttempt(organization_id: string, _id: string): Promise<AttemptRecord | null> {
      return attempts.findOne({ _id, organization_id });
    },

    /** The deliveries of these ids that an organization has, in any order. */
    async findAll(organization_id: string, ids: string[]): Promise<DeliveryRecord[]> {
      const found = await inPortions(ids, FOUND_AT_ONCE, (portion) =>
        deliveries.find({ _id: { $in: portion }, organization_id }).toArray(),
      );
      return found.flat();
    },

    /** How many deliveries wait whose window began between two moments (the first inclusive), counted up to `limit`. */
    async countWaiting([from, to]: [Date, Date], limit: number): Promise<number> {
      return deliveries.countDocuments({ state: 'waiting', window_from: { $gte: from, $lt: to } }, { limit });
    },
  };
}
