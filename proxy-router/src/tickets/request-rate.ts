/** Seconds over which the requests to a host are averaged: a page may make as many at once as it may in this time. */
const AVERAGED_SECONDS = 10;
/** The hosts that are remembered; the one that was asked longest ago is forgotten first. */
const HOSTS_MAX = 5_000;

/** `left`: how many requests may be made now; `at`: when that was counted, monotonic time in ms. */
type Bucket = { left: number; at: number };

/** Bounds the requests of a ticket to each host, so that a page cannot flood a target through an exit (a token bucket per host). */
export class RequestRate {
  readonly #hosts = new Map<string, Bucket>();

  /** Whether another request to the host may be made now; if so, it is counted. `perSecond`: the average that is allowed. */
  admits(host: string, perSecond: number, now: number): boolean {
    const burst = perSecond * AVERAGED_SECONDS;
    const { left, at } = this.#hosts.get(host) ?? { left: burst, at: now };
    const available = Math.min(burst, left + (perSecond * (now - at)) / 1_000);
    const isAdmitted = available >= 1;
    this.#hosts.delete(host);
    this.#hosts.set(host, { left: isAdmitted ? available - 1 : available, at: now });
    const [oldest] = this.#hosts.keys();
    if (this.#hosts.size > HOSTS_MAX && oldest !== undefined) this.#hosts.delete(oldest);
    return isAdmitted;
  }
}
