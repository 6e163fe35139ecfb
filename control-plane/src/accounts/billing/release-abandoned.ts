import { derivedId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { AllowanceStore, FoundReservation } from './allowance-store.ts';

export type ReleaseParts = {
  allowances: Pick<AllowanceStore, 'olderThan' | 'release' | 'releaseRest'>;
  /** Counts the organization's scans with these ids. */
  countScans: (organizationId: string, ids: string[]) => Promise<number>;
  /** Whether scans are still to be created with this reservation of a run. */
  isCreatingRun: (organizationId: string, runId: string, reservationId: string) => Promise<boolean>;
  logger: Logger;
};

const EVERY_MS = 60_000;
/** More than a request may take to write its scans: older reservations belong to interrupted requests. */
const ABANDONED_AFTER_MS = 600_000;
const IDS_AT_ONCE = 500;

/** Releases the reservations of interrupted requests. Several processes may do this at the same time. */
export function startReleasing(parts: ReleaseParts): Loop {
  const step = () => releaseAbandoned(parts, new Date());
  return startLoop(parts.logger, { name: 'abandoned reservations', everyMs: EVERY_MS, step });
}

/** Returns the checks that were reserved more than ten minutes ago for scans that were never written. */
export async function releaseAbandoned(
  { allowances, countScans, isCreatingRun, logger }: ReleaseParts,
  now: Date,
): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (const found of await allowances.olderThan(before)) {
    const { organizationId, id, reservation } = found;
    if (reservation.run_id !== undefined) {
      if (await isCreatingRun(organizationId, reservation.run_id, id)) continue;
      // A repeated start may have renewed it, and stored its run, since it was read.
      const left = await allowances.releaseRest(organizationId, id, reservation.at);
      if (left === null) continue;
      logger.info({ organization_id: organizationId, reservation: id, left }, 'released the reservation of a run');
      continue;
    }
    const unused = await countMissing(found, countScans);
    if (!(await allowances.release(found, unused))) continue;
    logger.info({ organization_id: organizationId, reservation: id, unused }, 'released an abandoned reservation');
  }
}

/** Counts the checks of a reservation that have no scan. */
async function countMissing(
  { organizationId, reservation: { names, indexes, checks } }: FoundReservation,
  countScans: ReleaseParts['countScans'],
): Promise<number> {
  const ids = names.flatMap((name) => indexes.map((index) => derivedId(name, index)));
  let existing = 0;
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    existing += await countScans(organizationId, ids.slice(from, from + IDS_AT_ONCE));
  return Math.min(checks, ids.length - existing);
}
