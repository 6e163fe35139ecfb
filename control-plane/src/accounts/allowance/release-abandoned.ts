import { derivedId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { AllowanceStore, FoundReservation } from './allowance-store.ts';

export type ReleaseParts = {
  allowances: Pick<AllowanceStore, 'leftBehind' | 'release'>;
  /** How many scans of these ids an organization has. */
  countScans: (organizationId: string, ids: string[]) => Promise<number>;
  logger: Logger;
};

const EVERY_MS = 60_000;
/** Longer than any request may take to write its scans: the request of an older reservation was interrupted. */
const ABANDONED_AFTER_MS = 600_000;
const IDS_AT_ONCE = 500;

/** Releases the reservations of requests that were interrupted. Any number of processes may do it. */
export function startReleasing(parts: ReleaseParts): Loop {
  const turn = () => releaseAbandoned(parts, new Date());
  return startLoop(parts.logger, { name: 'abandoned reservations', everyMs: EVERY_MS, turn });
}

/** Gives back what was counted for scans that were never written, ten minutes after it was. */
export async function releaseAbandoned({ allowances, countScans, logger }: ReleaseParts, now: Date): Promise<void> {
  const before = new Date(now.getTime() - ABANDONED_AFTER_MS);
  for (const found of await allowances.leftBehind(before)) {
    const unused = await countMissing(found, countScans);
    if (!(await allowances.release(found, unused))) continue;
    const { organizationId, id } = found;
    logger.info({ organization_id: organizationId, reservation: id, unused }, 'an abandoned reservation is released');
  }
}

/** How many checks of a reservation have no scan. */
async function countMissing(
  { organizationId, reservation: { names, indexes, checks } }: FoundReservation,
  countScans: ReleaseParts['countScans'],
): Promise<number> {
  const ids = names.flatMap((name) => indexes.map((index) => derivedId(name, index)));
  let made = 0;
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    made += await countScans(organizationId, ids.slice(from, from + IDS_AT_ONCE));
  return Math.min(checks, ids.length - made);
}
