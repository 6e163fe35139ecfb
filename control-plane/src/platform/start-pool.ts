import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { OfOrganization } from './pick-in-turns.ts';
import { type Loop, startLoop } from './start-loop.ts';
import { createWakeSignal, type WakeSignal } from './wake-signal.ts';

/** Work for claimed records, each in a place of its own: one that takes long holds up no other. */
export type PoolPlan<T extends OfOrganization> = {
  name: string;
  everyMs: number;
  wake?: WakeSignal | undefined;
  /** Records that are served at the same time, and that are claimed at the same time. */
  places: number;
  atOnce: number;
  /** Places of one organization; absent: all of them. */
  placesEach?: number;
  /** Claims up to `limit` records that are due, of each organization as many as it has room for. */
  claim(limit: number, rooms: Rooms): Promise<{ claimed: T[]; hasMore: boolean }>;
  serve(claimed: T, signal: AbortSignal): Promise<void>;
};

/** The places that each organization may have, and those that some have taken. */
export type Rooms = { each: number; taken: ReadonlyMap<string, number> };

/**
 * Claims due records and serves them, as many at a time as there are places; each place that becomes free is taken at once. `stop` aborts the signal of
 * those that are being served, and resolves when they have ended.
 */
export function startPool<T extends OfOrganization>(logger: Logger, plan: PoolPlan<T>): Loop {
  const { name, everyMs, places, atOnce, placesEach = places, claim, serve, wake = createWakeSignal(1) } = plan;
  const stopping = new AbortController();
  const working = new Map<Promise<void>, string>();
  let isShort = false;

  const begin = (one: T): void => {
    const work: Promise<void> = serve(one, stopping.signal)
      .catch((cause: unknown) => logger.error({ pool: name, id: one._id, cause }, 'a claimed record was not served'))
      .finally(() => {
        working.delete(work);
        if (isShort) wake.raise();
      });
    working.set(work, one.organization_id);
  };
  const step = async (): Promise<boolean> => {
    const rooms = { each: placesEach, taken: countEach(working.values()) };
    const limit = Math.min(atOnce, places - working.size);
    // What ends from here on leaves room that something may be waiting for.
    isShort = limit <= 0 || withoutRoom(rooms).length > 0;
    if (limit <= 0) return false;
    const { claimed, hasMore } = await claim(limit, rooms);
    for (const one of claimed) begin(one);
    isShort ||= hasMore;
    return hasMore && working.size < places;
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

const countEach = (ids: Iterable<string>): Map<string, number> =>
  new Map([...Map.groupBy(ids, (id) => id)].map(([id, { length }]) => [id, length]));

/** The organizations that have no room left. Pure. */
export const withoutRoom = ({ each, taken }: Rooms): string[] =>
  [...taken].filter(([, count]) => count >= each).map(([id]) => id);

/** Of records, in their order, those for which their organizations have room. Pure. */
export function withinRooms<T extends OfOrganization>(records: readonly T[], { each, taken }: Rooms): T[] {
  const counts = new Map(taken);
  return records.filter(({ organization_id }) => {
    const count = (counts.get(organization_id) ?? 0) + 1;
    counts.set(organization_id, count);
    return count <= each;
  });
}
