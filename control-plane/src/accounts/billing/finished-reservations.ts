/** Finished reservations are removed with the organization's next reservation, or after this time. */
const WRITE_WITHIN_MS = 500;

/** A reservation whose scans exist. `isUsed`: the run of its request that made it has created all of them. */
export type FinishedReservation = { id: string; made_by: string; isUsed: boolean };

/** Removes reservations, and returns the checks that their scans have not taken. */
export type FinishReservations = (organizationId: string, finished: FinishedReservation[]) => Promise<void>;

/**
 * Buffers reservations whose scans have been written, to remove them from the store together. If the process dies
 * before that, `release-abandoned.ts` removes them later, after counting their scans.
 */
export function finishedReservations(finish: FinishReservations) {
  const unwritten = new Map<string, FinishedReservation[]>();
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  const take = (organizationId: string): FinishedReservation[] => {
    const taken = unwritten.get(organizationId) ?? [];
    unwritten.delete(organizationId);
    return taken;
  };

  const write = async (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    const writes = [...unwritten.keys()].map((id) => finish(id, take(id)));
    // Those that began before may still be under way. Their results would hold those of all earlier ones.
    writing = Promise.allSettled([writing, ...writes]).then(() => undefined);
    await writing;
  };

  return {
    /** Removes and returns those of an organization, for a caller that writes them together with a new reservation. */
    take,

    add(organizationId: string, one: FinishedReservation): void {
      unwritten.set(organizationId, [...(unwritten.get(organizationId) ?? []), one]);
      timer ??= setTimeout(() => void write(), WRITE_WITHIN_MS).unref();
    },

    /** Resolves when the writes that are under way have ended. */
    written: (): Promise<void> => writing,

    /** Resolves when all are written or their writes have failed. */
    flush: write,
  };
}
