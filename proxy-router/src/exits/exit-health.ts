const OUTAGE_MS_FIRST = 30_000;
const OUTAGE_MS_LONGEST = 600_000;
/** How long the result of a probe is waited for before another request may try the exit. */
const PROBE_MS = 30_000;

type Outage = { failures: number; until: number; isProbing: boolean };

/**
 * Which exits are unavailable, a circuit breaker for each. An exit that fails is unavailable for 30 s; then one request probes it, and
 * no other uses it until the result is known. Another failure doubles the time, up to 10 minutes; a success ends the outage. Times are
 * Unix milliseconds.
 */
export class ExitHealth {
  readonly #outages = new Map<string, Outage>();

  isUnavailable(exitId: string, now: number): boolean {
    return now < (this.#outages.get(exitId)?.until ?? 0);
  }

  /** A ticket for the exit was issued: during an outage, that is the probe. */
  assigned(exitId: string, now: number): void {
    const outage = this.#outages.get(exitId);
    if (!outage) return;
    outage.isProbing = true;
    outage.until = now + PROBE_MS;
  }

  succeeded(exitId: string): void {
    this.#outages.delete(exitId);
  }

  failed(exitId: string, now: number): void {
    const before = this.#outages.get(exitId);
    // Requests that were in progress when the exit failed fail too; together they are one failure.
    if (before && !before.isProbing && now < before.until) return;
    const failures = (before?.failures ?? 0) + 1;
    const outageMs = Math.min(OUTAGE_MS_FIRST * 2 ** (failures - 1), OUTAGE_MS_LONGEST);
    this.#outages.set(exitId, { failures, until: now + outageMs, isProbing: false });
  }
}
