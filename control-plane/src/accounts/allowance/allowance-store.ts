import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { type Allowance, emptyAllowance, type Limits, type PricedChecks, type Reservation } from './allowance.ts';

/** A requested reservation. `isRepeatable`: another request may have made the same one. */
export type Wanted = Reservation & { id: string; isRepeatable: boolean };

/** A reservation whose scans are written: `checks` of it were not made, and are returned. */
export type Settled = PricedChecks & { id: string };

/** A reservation as it was found. */
export type FoundReservation = { organizationId: string; id: string; reservation: Reservation };

/** What an update adds to an allowance: to its months, and to the available balance. */
type Sums = Record<string, number>;

/** The only code that touches allowances. */
export type AllowanceStore = ReturnType<typeof allowanceStore>;

export function allowanceStore(store: Store) {
  const allowances: Collection<Allowance> = store.collection<Allowance>('allowances');

  return {
    // There is one for each organization; it is found by its id.
    async createIndexes(): Promise<void> {},

    async read(organizationId: string): Promise<Allowance> {
      return (await allowances.findOne({ _id: organizationId })) ?? emptyAllowance(organizationId);
    },

    /** Makes an empty allowance where the organization has none. */
    async create(organizationId: string): Promise<void> {
      await insertOnce(allowances, emptyAllowance(organizationId));
    },

    /** Starts a month with no checks, unless it has been started. */
    async beginMonth(organizationId: string, month: string): Promise<void> {
      await insertOnce(allowances, emptyAllowance(organizationId));
      const path = `months.${month}`;
      const filter: Filter<Allowance> = { _id: organizationId, [path]: { $exists: false } };
      await allowances.updateOne(filter, { $set: { [path]: 0 } });
    },

    /**
     * Counts what is wanted if the limits allow all of it, and settles what is settled, in one write. False: nothing was written, because it
     * is too much, one of the repeatable ones is there already, or the organization has no allowance for the month yet.
     */
    async take(organizationId: string, wanted: Wanted[], settled: Settled[], limits: Limits): Promise<boolean> {
      const sums = sumsOf(wanted, -1);
      const filter: Filter<Allowance> = { _id: organizationId, ...withinLimits(sums, limits) };
      const set: Record<string, Reservation> = {};
      for (const { id, isRepeatable, ...reservation } of wanted) {
        set[`reservations.${id}`] = reservation;
        if (isRepeatable) filter[`reservations.${id}`] = { $exists: false };
      }
      const update = { $set: set, ...settling(settled, sums) };
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },

    /** Removes reservations, and gives back what was not made of them. */
    async settle(organizationId: string, settled: Settled[]): Promise<void> {
      await allowances.updateOne({ _id: organizationId }, settling(settled, {}));
    },

    /** Restarts the lifetime of a reservation at `now`; false: it was settled or released meanwhile. */
    async renew(organizationId: string, id: string, now: Date): Promise<boolean> {
      const path = `reservations.${id}`;
      const filter: Filter<Allowance> = { _id: organizationId, [path]: { $exists: true } };
      return (await allowances.updateOne(filter, { $set: { [`${path}.at`]: now } })).matchedCount === 1;
    },

    /** The reservations that were made or renewed before `before`, of all organizations. */
    async leftBehind(before: Date): Promise<FoundReservation[]> {
      const found = await allowances.find({ reservations: { $ne: {} } }).toArray();
      return found.flatMap(({ _id, reservations }) =>
        Object.entries(reservations)
          .filter(([, { at }]) => at < before)
          .map(([id, reservation]) => ({ organizationId: _id, id, reservation })),
      );
    },

    /** Removes a reservation that nobody has renewed since it was found, and gives back `checks` of it. */
    async release({ organizationId, id, reservation }: FoundReservation, checks: number): Promise<boolean> {
      const filter: Filter<Allowance> = { _id: organizationId, [`reservations.${id}.at`]: reservation.at };
      const update = settling([{ ...reservation, id, checks }], {});
      return (await allowances.updateOne(filter, update)).matchedCount === 1;
    },

    /** Adds the entries of the ledger between two numbers: a check is returned for each of `monthsOfRefunds`, and `micros` are added. False: another process did. */
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

/** How checks change an allowance: `sign` -1 takes them from it, 1 returns them. */
function sumsOf(all: PricedChecks[], sign: 1 | -1, sums: Sums = {}): Sums {
  for (const { month, checks, price_micros } of all) {
    add(sums, `months.${month}`, -sign * checks);
    add(sums, 'available_micros', sign * checks * price_micros);
  }
  return sums;
}

/** The filter that an allowance must match for `sums` to be within the limits. */
function withinLimits(sums: Sums, { checks_per_month, hasBalance }: Limits): Filter<Allowance> {
  const filter: Record<string, object> = {};
  for (const [path, amount] of Object.entries(sums)) {
    if (path !== 'available_micros') {
      if (checks_per_month !== null) filter[path] = { $lte: checks_per_month - amount };
    } else if (hasBalance && amount < 0) filter[path] = { $gte: -amount };
  }
  return filter;
}

/** The part of an update that removes what is settled and gives back the rest of it, with `sums` of other changes. */
function settling(settled: Settled[], sums: Sums) {
  const total = sumsOf(settled, 1, { ...sums });
  const gone = Object.fromEntries(settled.map(({ id }) => [`reservations.${id}`, '' as const]));
  return { $inc: total, ...(settled.length > 0 ? { $unset: gone } : {}) };
}
