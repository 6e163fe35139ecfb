import { setNewest } from './set-newest.ts';

/** Seconds over which requests are averaged: as many may be made at once as in this time. */
const AVERAGED_SECONDS = 10;
/** The keys that are remembered; the one that was used longest ago is forgotten first. */
const KEYS_MAX = 5_000;

/** `left`: how many requests may be made now; `at`: when that was counted, monotonic time in ms. */
type Bucket = { left: number; at: number };

/**
 * Bounds requests by key, with a token bucket for each: those of a ticket by host, so that a page cannot flood a target
 * through an exit, and calls of nodes by their names, so that none keeps a service from the others.
 */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();

  /**
   * Whether another request of this key may be made now; if so, it is counted. `perSecond`: the average that is
   * allowed; `now`: monotonic time in ms.
   */
  admits(key: string, perSecond: number, now: number): boolean {
    const burst = perSecond * AVERAGED_SECONDS;
    const { left, at } = this.#buckets.get(key) ?? { left: burst, at: now };
    const available = Math.min(burst, left + (perSecond * (now - at)) / 1_000);
    const isAdmitted = available >= 1;
    setNewest(this.#buckets, key, { left: isAdmitted ? available - 1 : available, at: now }, KEYS_MAX);
    return isAdmitted;
  }
}
