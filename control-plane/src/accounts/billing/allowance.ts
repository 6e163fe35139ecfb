/**
 * Checks that were counted before their scans are written. The scans have the ids `derivedId(name, index)` for all
 * `names` and `indexes`, so that another process can find out which of them exist if the request was interrupted.
 */
export type Reservation = {
  /** When it was made, or renewed by a further run of its request. */
  at: Date;
  /** The month in which the checks are counted. */
  month: string;
  checks: number;
  price_micros: number;
  names: string[];
  indexes: number[];
  /**
   * Identifies it, among those that the same request has made one after the other: the scans that take its checks name
   * it in `reserved_by`.
   */
  made_by: string;
  /**
   * The run whose scans it is for, which are created later, in steps: the checks that no step has taken yet. It names
   * no scans, and lasts as long as the run is being created.
   */
  run_id?: string;
  /** The reservation of the run from which this step of it was taken. */
  taken_from?: string;
};

/** An organization's usage. One document, so that counting and checking the limits is one write. */
export type Allowance = {
  /** The organization. */
  _id: string;
  /** Checks by month (UTC, `2026-11`); refunded ones do not count. */
  months: Record<string, number>;
  /** Credits minus charges, in micros: the ledger's balance once all entries are booked. */
  available_micros: number;
  /** Number of the last ledger entry that is included. */
  ledger_through: number;
  /** Requests whose scans are being written. */
  reservations: Record<string, Reservation>;
};

/** An organization's limits. `hasBalance`: it may spend no more than its balance. */
export type Limits = { checks_per_month: number | null; hasBalance: boolean };

/** Checks of one month, each at this price. */
export type PricedChecks = Pick<Reservation, 'month' | 'checks' | 'price_micros'>;

export type Refusal = 'quota_exhausted' | 'insufficient_funds';

export function emptyAllowance(organizationId: string): Allowance {
  return { _id: organizationId, months: {}, available_micros: 0, ledger_through: 0, reservations: {} };
}

/** Why an allowance does not cover these checks; null: it does. A check that costs nothing needs no balance. */
export function refusalOf(
  { months, available_micros }: Pick<Allowance, 'months' | 'available_micros'>,
  { month, checks, price_micros }: PricedChecks,
  { checks_per_month, hasBalance }: Limits,
): Refusal | null {
  if (checks_per_month !== null && (months[month] ?? 0) + checks > checks_per_month) return 'quota_exhausted';
  const cost = checks * price_micros;
  return hasBalance && cost > 0 && cost > available_micros ? 'insufficient_funds' : null;
}
