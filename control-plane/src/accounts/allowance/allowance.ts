/**
 * Checks that are counted before their scans are written. Its scans have the ids `derivedId(name, index)` of all `names` and `indexes`,
 * so that if it is abandoned, another process can find out which of them were created.
 */
export type Reservation = {
  at: Date;
  /** The month that its checks count in. */
  month: string;
  checks: number;
  price_micros: number;
  names: string[];
  indexes: number[];
};

/** An organization's usage: one document, so that counting and comparing with the limits are one write. */
export type Allowance = {
  /** The organization. */
  _id: string;
  /** Checks by month (UTC, `2026-11`); refunded ones do not count. */
  months: Record<string, number>;
  /** Credits less charges, in micros: the balance of the ledger once it has booked everything. */
  available_micros: number;
  /** The number of the last entry of the ledger whose credits and refunds are in it. */
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
