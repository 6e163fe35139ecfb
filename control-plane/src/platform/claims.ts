import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { dueByOrganization, dueIndexes } from './due-by-organization.ts';
import { type OfOrganization, pickingInTurns } from './pick-in-turns.ts';
import { atTheirLimit, type Serving, withinLimits } from './start-pool.ts';
import type { Collection } from './store.ts';

/** A record that something can be queued for, and that one process at a time works for, by a claim. */
export type Claimable = OfOrganization & {
  is_active: boolean;
  /** How much was queued for it so far. */
  arrivals: number;
  /** When a process must look after it, at the latest when its claim expires; absent: there is nothing to do. */
  due_at?: Date;
  /** The number of its last claim: writes of earlier ones are refused. */
  fence: number;
  /** When its claim expires; absent: it has none. */
  claimed_until?: Date;
};

/** What a claim holds: the record as it was claimed, under this fence. */
export type Claim = Pick<Claimable, '_id' | 'organization_id' | 'fence'>;

/** The indexes that claims need. */
export const CLAIM_INDEXES = dueIndexes('due_at');

/** Selects the record of a claim, unless the claim is lost. */
export const held = ({ _id, organization_id, fence }: Claim): Claim => ({ _id, organization_id, fence });

/** To be unset in a record that nobody needs to look after any more: its claim ends too. */
export const NOT_DUE = { due_at: '', claimed_until: '' } as const;

/** The fields of a record that is claimed until `until`. */
export const claimedUntil = (until: Date) => ({ claimed_until: until, due_at: until });

/** No process has claimed the record, or the claim has expired. */
const unclaimed = (now: Date) => ({ $or: [{ claimed_until: { $exists: false } }, { claimed_until: { $lt: now } }] });

/** The claims of a collection's records. */
export function claimsOf<T extends Claimable>(collection: Collection<T>) {
  // The driver's types of filters and updates do not work with a type parameter.
  const records = collection as unknown as Collection<Claimable>;
  const pick = pickingInTurns();
  const change = async (where: object, update: object): Promise<T | null> =>
    (await records.findOneAndUpdate(where, update, { returnDocument: 'after' })) as T | null;

  return {
    /**
     * Claims up to `limit` due records until `until`, each for one caller, one of each organization in turn, and of
     * each as many as `serving` allows. `hasMore`: further ones may be due.
     */
    async claimDue(
      now: Date,
      until: Date,
      limit: number,
      serving: Serving,
    ): Promise<{ claimed: T[]; hasMore: boolean }> {
      const free = { is_active: true, ...unclaimed(now) };
      const where = { ...free, $and: [{ organization_id: { $nin: atTheirLimit(serving) } }] };
      const picked = await pick(dueByOrganization(records, 'due_at', now, { where }), limit);
      const claims = await inTurns(withinLimits(picked, serving), ({ _id, organization_id }) =>
        change(
          { _id, organization_id, due_at: { $lte: now }, ...free },
          { $set: claimedUntil(until), $inc: { fence: 1 } },
        ),
      );
      const claimed = claims.filter((one) => one !== null);
      return { claimed, hasMore: picked.length === limit || claimed.length < picked.length };
    },

    /**
     * The claimed record as it is now, with its claim extended; null: the claim is lost, or the record is gone or no
     * longer active.
     */
    extend: (claim: Claim, until: Date): Promise<T | null> =>
      change({ ...held(claim), is_active: true }, { $set: claimedUntil(until) }),

    /**
     * Ends a claim. `dueAt`: when the record is due next; null: when something is queued for it. False: the claim is
     * lost; or it goes on, because something was queued since the record was read, or it differs from `unchanged`.
     */
    async release(
      claim: Claim & Pick<Claimable, 'arrivals'>,
      dueAt: Date | null,
      unchanged: Partial<T> = {},
    ): Promise<boolean> {
      const where = { ...held(claim), arrivals: claim.arrivals, ...unchanged };
      const update = dueAt ? { $set: { due_at: dueAt }, $unset: { claimed_until: '' } } : { $unset: NOT_DUE };
      return (await records.updateOne(where, update as object)).matchedCount === 1;
    },
  };
}
