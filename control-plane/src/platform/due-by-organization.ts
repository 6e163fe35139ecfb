import { MINUTE_MS } from '@adsweep/shared/durations.ts';
import type { DueByOrganization, OfOrganization } from './pick-in-turns.ts';
import type { Collection, Filter } from './store.ts';

/** How far the clocks of processes may differ, in ms. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

/**
 * The moment from which on something written at `now` is due, if it is to be due at once: in the past by the clock of
 * each process, and in the order of writing. What is to wait, such as for a retry or the end of a claim, is due at that
 * time itself.
 */
export const dueAtOnce = (now: Date): Date => new Date(now.getTime() - CLOCKS_DIFFER_MS);

/** The indexes that {@link dueByOrganization} reads. `fixed`: fields to which `where` gives one value. */
export const dueIndexes = (field: string, ...fixed: string[]) => [
  { key: { [field]: 1 as const }, sparse: true },
  { key: Object.fromEntries([...fixed, 'organization_id', field].map((name) => [name, 1 as const])) },
];

/**
 * The records of a collection whose `field` is a moment until `now`, as far as they also match `where`. They are read
 * with their ids, organizations, moments and the fields in `shown`; nothing is read of an organization without due
 * records but one entry of an index.
 */
export function dueByOrganization<R extends OfOrganization, T extends OfOrganization = R>(
  records: Collection<R>,
  field: keyof R & string,
  now: Date,
  { where = {}, shown = {} }: { where?: Filter<R>; shown?: Readonly<Record<string, number>> } = {},
): DueByOrganization<T> {
  const inTurn = { organization_id: 1, [field]: 1 } as const;
  const search = (among: object, sort: Record<string, 1>, limit: number): Promise<T[]> =>
    records
      .find({ ...among, [field]: { $lte: now }, ...where } as object as Filter<R>)
      .sort(sort)
      .limit(limit)
      .project<T>({ ...inTurn, ...shown })
      .toArray();
  return {
    first: (limit) => search({}, { [field]: 1 }, limit),
    organizationAfter: async (id) =>
      (await search({ organization_id: { $gt: id } }, inTurn, 1))[0]?.organization_id ?? null,
    of: (organization_id, limit) => search({ organization_id }, inTurn, limit),
  };
}
