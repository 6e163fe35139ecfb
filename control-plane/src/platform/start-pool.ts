import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { OfOrganization } from './pick-in-turns.ts';
import { type Loop, startLoop } from './start-loop.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** Work for claimed records, which are served concurrently: one that takes long does not hold up the others. */
export type PoolPlan<T extends OfOrganization> = {
  name: string;
  everyMs: number;
  wake?: WakeSignal | undefined;
  /** Records that are served at the same time. */
  concurrency: number;
  /** The same for one organization; absent: it has no limit of its own. */
  concurrencyEach?: number;
  /** Records that are claimed at the same time. */
  claimedAtOnce: number;
  /** Claims up to `limit` records that are due, of each organization as many as `serving` allows. */
  claim(limit: number, serving: Serving): Promise<{ claimed: T[]; hasMore: boolean }>;
  /** `isFull`: whether no further record can be served until one ends. */
  serve(claimed: T, signal: AbortSignal, isFull: () => boolean): Promise<void>;
};

/** How many records of each organization may be served at the same time, and how many of some are served now. */
export type Serving = { each: number; now: ReadonlyMap<string, number> };

/**
 * Claims due records and serves up to `concurrency` of them at a time; when one ends, the next one begins at once.
 * `stop` aborts the signal of those that are being served, and resolves when they have ended.
 */
export function startPool<T extends OfOrganization>(logger: Logger, plan: PoolPlan<T>): Loop {
  const { name, everyMs, concurrency, concurrencyEach = concurrency, claimedAtOnce, claim, serve } = plan;
  const { wake = createWakeSignal(1) } = plan;
  const stopping = new AbortController();
  const working = new Map<Promise<void>, string>();
  const isFull = (): boolean => working.size >= concurrency;
  let isShort = false;

  const begin = (one: T): void => {
    const work: Promise<void> = serve(one, stopping.signal, isFull)
      .catch((cause: unknown) => logger.error({ pool: name, id: one._id, cause }, 'a claimed record was not served'))
      .finally(() => {
        working.delete(work);
        if (isShort) wake.raise();
      });
    working.set(work, one.organization_id);
  };
  const step = async (): Promise<boolean> => {
    const serving = { each: concurrencyEach, now: countEach(working.values()) };
    const limit = Math.min(claimedAtOnce, concurrency - working.size);
    // When a record ends from here on, another one may be waiting for that.
    isShort = limit <= 0 || atTheirLimit(serving).length > 0;
    if (limit <= 0) return false;
    const { claimed, hasMore } = await claim(limit, serving);
    for (const one of claimed) begin(one);
    isShort ||= hasMore;
    return hasMore && !isFull();
  };
  const loop = startLoop(logger, { name, everyMs, step, wake });
  return {
    async stop() {
      stopping.abort(new Error('the process stops'));
      await loop.stop();
      await Promise.all(working.keys());
    },
  };
}

/** How often each id occurs. Pure. */
export const countEach = (ids: Iterable<string>): Map<string, number> =>
  new Map([...Map.groupBy(ids, (id) => id)].map(([id, { length }]) => [id, length]));

/** The organizations of which no further record may be served. Pure. */
export const atTheirLimit = ({ each, now }: Serving): string[] =>
  [...now].filter(([, count]) => count >= each).map(([id]) => id);

/** Of records, in their order, those that the limits of their organizations allow. Pure. */
export function withinLimits<T extends OfOrganization>(records: readonly T[], { each, now }: Serving): T[] {
  const counts = new Map(now);
  return records.filter(({ organization_id }) => {
    const count = (counts.get(organization_id) ?? 0) + 1;
    counts.set(organization_id, count);
    return count <= each;
  });
}
