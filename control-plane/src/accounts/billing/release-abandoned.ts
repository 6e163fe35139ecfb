import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { AllowanceStore, FoundReservation } from './allowance-store.ts';
import { type CountReserved, unusedChecks } from './unused-checks.ts';

export type ReleaseParts = {
  allowances: Pick<AllowanceStore, 'olderThan' | 'release' | 'releaseRest'>;
  countReserved: CountReserved;
  /** Whether scans are still to be created with this reservation of a run. */
  isCreatingRun: (organizationId: string, runId: string, reservationId: string) => Promise<boolean>;
  logger: Logger;
};

const EVERY_MS = 60_000;
/**
 * More than a request may take to write its scans: reservations that are older, by the clock of this process, may
 * belong to interrupted requests.
 */
const ABANDONED_AFTER_MS = 420_000;
/**
 * The same by the time of this process alone, since it found them: a clock that is ahead makes new reservations look
 * old. Ten minutes together.
 */
const FOUND_FOR_MS = 180_000;

/** Releases the reservations of interrupted requests. Several processes may do this at the same time. */
export function startReleasing(parts: ReleaseParts): Loop {
  const since = foundFor(FOUND_FOR_MS);
  const step = () => releaseAbandoned(parts, new Date(), since);
  return startLoop(parts.logger, { name: 'abandoned reservations', everyMs: EVERY_MS, step });
}

/**
 * Chooses from the reservations that each step finds those that a step found `ms` milliseconds before, at least.
 * `nowMs`: monotonic time. One that was renewed meanwhile counts as another one.
 */
export function foundFor(ms: number) {
  let since = new Map<string, number>();
  return (found: FoundReservation[], nowMs = performance.now()): FoundReservation[] => {
    const keyOf = ({ organizationId, id, reservation: { at } }: FoundReservation) =>
      `${organizationId} ${id} ${at.getTime()}`;
    since = new Map(found.map(keyOf).map((key) => [key, since.get(key) ?? nowMs]));
    return found.filter((one) => nowMs - (since.get(keyOf(one)) ?? nowMs) >= ms);
  };
}

/**
 * Returns the checks that were reserved for scans that were never written. `choose`: from the reservations that are old
 * by the clock `now`; absent: all.
 */
export async function releaseAbandoned(
  { allowances, countReserved, isCreatingRun, logger }: ReleaseParts,
  now: Date,
  choose: (found: FoundReservation[]) => FoundReservation[] = (found) => found,
): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (const found of choose(await allowances.olderThan(before))) {
    const { organizationId, id, reservation } = found;
    if (reservation.run_id !== undefined) {
      if (await isCreatingRun(organizationId, reservation.run_id, id)) continue;
      // A repeated start may have renewed it, and stored its run, since it was read.
      const left = await allowances.releaseRest(organizationId, id, reservation.at);
      if (left === null) continue;
      logger.info({ organization_id: organizationId, reservation: id, left }, 'released the reservation of a run');
      continue;
    }
    const unused = await unusedChecks(found, countReserved);
    if (!(await allowances.release(found, unused))) continue;
    logger.info({ organization_id: organizationId, reservation: id, unused }, 'released an abandoned reservation');
  }
}
