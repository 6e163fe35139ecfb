import { derivedId } from '@adsweep/shared/ids.ts';
import type { FoundReservation } from './allowance-store.ts';

/**
 * Counts those of the organization's scans with these ids whose checks were taken from this reservation, by its
 * `made_by`.
 */
export type CountReserved = (organizationId: string, ids: string[], madeBy: string) => Promise<number>;

const IDS_AT_ONCE = 500;

/**
 * The checks of a reservation that no scan has taken: scans that other reservations of the same request have counted do
 * not use it up.
 */
export async function unusedChecks(
  { organizationId, reservation: { names, indexes, checks, made_by } }: FoundReservation,
  countReserved: CountReserved,
): Promise<number> {
  const ids = names.flatMap((name) => indexes.map((index) => derivedId(name, index)));
  let used = 0;
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    used += await countReserved(organizationId, ids.slice(from, from + IDS_AT_ONCE), made_by);
  return Math.max(0, checks - used);
}
