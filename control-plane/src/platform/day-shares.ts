import { DAY_MS } from '@adsweep/shared/durations.ts';
import { insertOnce } from './insert-once.ts';
import { serializeByKey } from './serialize-by-key.ts';
import type { Collection, Store } from './store.ts';

/**
 * How much of something each owner may use in a day (UTC). `block`: how much of it a process takes at once and spends
 * without a write; what is left of a block when the process ends counts as used.
 */
export type DayShare = { name: string; perDay: number; block: number };

type UsedShare = { _id: string; used: number; expires_at: Date };

/** The next midnight, UTC. */
const endOfDay = (now: Date): Date => new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);

const idOf = (key: string, now: Date): string => `${key}/${endOfDay(now).toISOString().slice(0, 10)}`;

/** When a share that is used up is there again, as a header of the refusal. */
export const retryNextDay = (now: Date): Record<string, string> => ({
  'Retry-After': String(Math.ceil((endOfDay(now).getTime() - now.getTime()) / 1_000)),
});

/**
 * Shares that owners use, counted together by all processes: the sum never exceeds `perDay`, however many use it at
 * once.
 */
export type DayShares = ReturnType<typeof dayShares>;

export function dayShares(store: Store) {
  const shares: Collection<UsedShare> = store.collection<UsedShare>('day_shares');
  const oneByOne = serializeByKey();
  /** What this process holds of blocks that it took today, by the ids of the shares: a write may end after midnight. */
  const held = { until: new Date(0), left: new Map<string, number>() };

  const leftOf = (_id: string, now: Date): number => {
    if (now >= held.until) {
      held.until = endOfDay(now);
      held.left.clear();
    }
    return held.left.get(_id) ?? 0;
  };

  const use = async (_id: string, amount: number, perDay: number, expires_at: Date): Promise<boolean> => {
    const room = { _id, used: { $lte: perDay - amount } };
    const add = async () => (await shares.updateOne(room, { $inc: { used: amount } })).matchedCount === 1;
    if (await add()) return true;
    return (await insertOnce(shares, { _id, used: 0, expires_at })) && add();
  };

  return {
    async createIndexes(): Promise<void> {
      await shares.createIndex({ expires_at: 1 }, { expireAfterSeconds: 0 });
    },

    /** Uses some of an owner's share; false: so much is not left today. */
    async take({ name, perDay, block }: DayShare, owner: string, amount: number, now: Date): Promise<boolean> {
      if (perDay === Number.POSITIVE_INFINITY) return true;
      const key = `${name}/${owner}`;
      const _id = idOf(key, now);
      return oneByOne(key, async () => {
        const left = leftOf(_id, now);
        const missing = amount - left;
        const until = endOfDay(now);
        const wanted = [Math.max(missing, block), missing];
        for (const taken of missing > 0 ? wanted : [0]) {
          if (taken > 0 && !(await use(_id, taken, perDay, until))) continue;
          // What was given back since is in what is left now.
          held.left.set(_id, leftOf(_id, now) + taken - amount);
          return true;
        }
        return false;
      });
    },

    /** Whether so much of an owner's share is left today. */
    async isLeft({ name, perDay }: DayShare, owner: string, amount: number, now: Date): Promise<boolean> {
      const _id = idOf(`${name}/${owner}`, now);
      const missing = amount - leftOf(_id, now);
      if (missing <= 0 || perDay === Number.POSITIVE_INFINITY) return true;
      const share = await shares.findOne({ _id });
      return missing <= perDay - (share?.used ?? 0);
    },

    /** Gives back what was taken today and not used. */
    giveBack({ name, perDay }: DayShare, owner: string, amount: number, now: Date): void {
      if (perDay === Number.POSITIVE_INFINITY) return;
      const _id = idOf(`${name}/${owner}`, now);
      held.left.set(_id, leftOf(_id, now) + amount);
    },
  };
}
