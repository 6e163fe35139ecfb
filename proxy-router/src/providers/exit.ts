import type { Place } from './place.ts';

/**
 * An exit that can be picked: one that the exits file lists, or the account of a vendor together with the place that it is asked for.
 * `id` is unique among all; that of a vendor's has slashes in it, which no listed one has.
 */
export type Exit = Place & {
  id: string;
  provider: string;
  /** URL of the upstream proxy with its credentials, for an exit of the provider `list`. */
  upstream?: string;
  /** The vendor's account, which has states and limits of its own; absent for an exit that is listed. */
  account?: string;
  /** Tickets that may be in use at the same time, of the account where there is one. */
  tickets_max?: number;
  /** What 1,000,000,000 bytes cost, in the operator's currency. */
  price_per_gb?: number;
};

/** What tells one use of an exit from another: a vendor gives the same address for as long as the session is the same. */
export type ExitSession = { exit: Exit; session: string };
