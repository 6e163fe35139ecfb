/** A turn may begin this much later than planned before the process counts as having been paused, in ms. */
const LATE_MS = 1_000;

/** How long the reaper waits before it takes anything, how often it looks, both in ms, and a clock that never goes back, in ms. */
export type GracePlan = { graceMs: number; everyMs: number; clock: () => number };

/**
 * Decides when leases may be reaped: after `graceMs` in which this process took its turns on time over one connection to Redis. A pause
 * of the process, an outage of Redis or a new connection starts the wait again, because nodes that are alive could not renew meanwhile.
 */
export class ReaperGrace {
  readonly #plan: GracePlan;
  #since: number | null = null;
  #lastSeen = 0;
  #connection: number | null = null;

  constructor(plan: GracePlan) {
    this.#plan = plan;
  }

  /** Called at the beginning of a turn, with the number of the connection to Redis: whether leases may be reaped now. */
  mayReap(connection: number): boolean {
    if (connection !== this.#connection) this.restart();
    this.#connection = connection;
    return this.stillOnTime(this.#plan.everyMs);
  }

  /** Called after Redis answered: false where that took so long that the answer must not be acted upon. `plannedMs` is allowed for. */
  stillOnTime(plannedMs = 0): boolean {
    const now = this.#plan.clock();
    if (this.#since === null || now - this.#lastSeen > plannedMs + LATE_MS) this.#since = now;
    this.#lastSeen = now;
    return now - this.#since >= this.#plan.graceMs;
  }

  /** Starts the wait again at the next turn. */
  restart(): void {
    this.#since = null;
  }
}
