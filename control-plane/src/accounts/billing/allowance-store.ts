import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { type Allowance, emptyAllowance, type Limits, type PricedChecks, type Reservation } from './allowance.ts';

/** A requested reservation. `isRepeatable`: another request may have made the same one. */
export type Wanted = Reservation & { id: string; isRepeatable: boolean };

/** A reservation as it was read. */
export type FoundReservation = { organizationId: string; id: string; reservation: Reservation };

/** Amounts that an update adds to an allowance, by path: its months and the available balance. */
type Sums = Record<string, number>;

/** The only code that accesses allowances. */
export type AllowanceStore = ReturnType<typeof allowanceStore>;

export function allowanceStore(store: Store) {
  const allowances: Collection<Allowance> = store.collection<Allowance>('allowances');

  /**
   * Removes a reservation that matches, and returns checks of it to the one it was taken from; false if that does not
   * exist.
   */
  const returnTo = async (
    from: string | undefined,
    filter: Filter<Allowance>,
    { id, checks }: { id: string; checks: number },
  ): Promise<boolean> => {
    if (from === undefined) return false;
    const both: Filter<Allowance> = { ...filter, [`reservations.${from}`]: { $exists: true } };
    const update = {
      $inc: { [`reservations.${from}.checks`]: checks },
      $unset: { [`reservations.${id}`]: '' as const },
    };
    return (await allowances.updateOne(both, update)).matchedCount === 1;
  };

  const read = async (organizationId: string): Promise<Allowance> =>
    (await allowances.findOne({ _id: organizationId })) ?? emptyAllowance(organizationId);

  return {
    // One document per organization, found by its id.
    async createIndexes(): Promise<void> {},

    read,

    /** Creates an empty allowance if the organization has none. */
    async create(organizationId: string): Promise<void> {
      await insertOnce(allowances, emptyAllowance(organizationId));
    },

    /** Adds a month with 0 checks, unless it exists. */
    async beginMonth(organizationId: string, month: string): Promise<void> {
      await insertOnce(allowances, emptyAllowance(organizationId));
      const path = `months.${month}`;
      const filter: Filter<Allowance> = { _id: organizationId, [path]: { $exists: false } };
      await allowances.updateOne(filter, { $set: { [path]: 0 } });
    },

    /**
     * Makes the `wanted` reservations if the limits allow all of them, and removes those of `used`, in one write.
     * False: nothing was written, because a limit would be exceeded, a repeatable reservation exists already, or the
     * allowance or its month is missing.
     */
    async take(organizationId: string, wanted: Wanted[], used: string[], limits: Limits): Promise<boolean> {
      const sums = sumsOf(wanted, -1);
      const filter: Filter<Allowance> = { _id: organizationId, ...withinLimits(sums, limits) };
      const set: Record<string, Reservation> = {};
      for (const { id, isRepeatable, ...reservation } of wanted) {
        set[`reservations.${id}`] = reservation;
        if (isRepeatable) filter[`reservations.${id}`] = { $exists: false };
      }
      const update = { $set: set, $inc: sums, ...removing(used) };
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },

    /** Removes reservations whose checks are all used. */
    async removeUsed(organizationId: string, ids: string[]): Promise<void> {
      await allowances.updateOne({ _id: organizationId }, removing(ids));
    },

    /**
     * Restarts the lifetime of a reservation at `now`, for a further run of its request; false: it was finished or
     * released meanwhile.
     */
    async share(organizationId: string, id: string, made_by: string, now: Date): Promise<boolean> {
      const path = `reservations.${id}`;
      const filter: Filter<Allowance> = { _id: organizationId, [`${path}.made_by`]: made_by };
      const update = { $set: { [`${path}.at`]: now } };
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },

    /**
     * Moves the checks of `wanted` from the reservation `from` to one of their own. False: `from` has not so many, or
     * the reservation exists already.
     */
    async takeFrom(organizationId: string, from: string, { id, isRepeatable: _, ...wanted }: Wanted): Promise<boolean> {
      const filter: Filter<Allowance> = {
        _id: organizationId,
        [`reservations.${from}.checks`]: { $gte: wanted.checks },
        [`reservations.${id}`]: { $exists: false },
      };
      const update = {
        $inc: { [`reservations.${from}.checks`]: -wanted.checks },
        $set: { [`reservations.${id}`]: { ...wanted, taken_from: from } },
      };
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },

    /**
     * Removes a reservation and returns the checks it has left to the allowance. Returns how many; null: there is none,
     * or it was renewed since `at` (absent: it may have been).
     */
    async releaseRest(organizationId: string, id: string, at?: Date): Promise<number | null> {
      for (;;) {
        const found = (await allowances.findOne({ _id: organizationId }))?.reservations[id];
        if (!found || (at && found.at.getTime() !== at.getTime())) return null;
        const path = `reservations.${id}`;
        const asFound = { [`${path}.at`]: found.at, [`${path}.checks`]: found.checks };
        const filter: Filter<Allowance> = { _id: organizationId, ...asFound };
        if ((await allowances.updateOne(filter, returning(id, found))).matchedCount === 1) return found.checks;
      }
    },

    /** The reservations that were made or renewed before `before`, of all organizations. */
    async olderThan(before: Date): Promise<FoundReservation[]> {
      const found = await allowances.find({ reservations: { $ne: {} } }).toArray();
      return found.flatMap(({ _id, reservations }) =>
        Object.entries(reservations)
          .filter(([, { at }]) => at < before)
          .map(([id, reservation]) => ({ organizationId: _id, id, reservation })),
      );
    },

    /**
     * Removes a reservation and returns `checks` of it: to the reservation it was taken from if that exists, else to
     * the allowance. False: it was removed since it was read or, unless all of its scans exist (`isWritten`), renewed.
     */
    async release(
      { organizationId, id, reservation }: FoundReservation,
      checks: number,
      { isWritten = false } = {},
    ): Promise<boolean> {
      const { made_by, at, taken_from } = reservation;
      const path = `reservations.${id}`;
      const same = { [`${path}.made_by`]: made_by, ...(!isWritten && { [`${path}.at`]: at }) };
      const filter: Filter<Allowance> = { _id: organizationId, ...same };
      if (await returnTo(taken_from, filter, { id, checks })) return true;
      return (await allowances.updateOne(filter, returning(id, { ...reservation, checks }))).matchedCount === 1;
    },

    /**
     * Adds the ledger entries in (`after`, `through`]: returns one check to each month of `monthsOfRefunds`, and adds
     * `micros`. False: another process has added them.
     */
    async credit(
      organizationId: string,
      { after, through }: { after: number; through: number },
      monthsOfRefunds: string[],
      micros: number,
    ): Promise<boolean> {
      const sums: Sums = { available_micros: micros };
      for (const month of monthsOfRefunds) add(sums, `months.${month}`, -1);
      const filter: Filter<Allowance> = { _id: organizationId, ledger_through: after };
      const update = { $set: { ledger_through: through }, $inc: sums };
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },
  };
}

function add(sums: Sums, path: string, amount: number): void {
  sums[path] = (sums[path] ?? 0) + amount;
}

/** The changes of an allowance by these checks; `sign` -1 takes them from the allowance, 1 returns them. */
function sumsOf(all: PricedChecks[], sign: 1 | -1): Sums {
  const sums: Sums = {};
  for (const { month, checks, price_micros } of all) {
    add(sums, `months.${month}`, -sign * checks);
    add(sums, 'available_micros', sign * checks * price_micros);
  }
  return sums;
}

/** Filter for an allowance to which `sums` can be added within the limits. */
function withinLimits(sums: Sums, { checks_per_month, hasBalance }: Limits): Filter<Allowance> {
  const filter: Record<string, object> = {};
  for (const [path, amount] of Object.entries(sums)) {
    if (path !== 'available_micros') {
      if (checks_per_month !== null) filter[path] = { $lte: checks_per_month - amount };
    } else if (hasBalance && amount < 0) filter[path] = { $gte: -amount };
  }
  return filter;
}

/** The part of an update that removes reservations. */
const removing = (ids: string[]) =>
  ids.length > 0 ? { $unset: Object.fromEntries(ids.map((id) => [`reservations.${id}`, '' as const])) } : {};

/** The update that removes a reservation and returns these checks of it. */
const returning = (id: string, checks: PricedChecks) => ({ $inc: sumsOf([checks], 1), ...removing([id]) });
