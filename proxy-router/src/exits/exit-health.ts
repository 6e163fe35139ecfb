const OUT_MS_FIRST = 30_000;
const OUT_MS_LONGEST = 600_000;
/** How long a probe may take to tell how it went before another is sent. */
const PROBE_MS = 30_000;

type Trouble = { failures: number; outUntil: number; probing: boolean };

/**
 * Which exits are out of service. An exit that fails is out for 30 s; then one request tries it, and while that tells nothing nobody
 * else does; another failure doubles the time, up to 10 minutes, a success ends it. Times are Unix milliseconds.
 */
export class ExitHealth {
  readonly #troubles = new Map<string, Trouble>();

  isOut(exitId: string, now: number): boolean {
    return now < (this.#troubles.get(exitId)?.outUntil ?? 0);
  }

  /** An exit was given to somebody: after a failure, that is the probe. */
  taken(exitId: string, now: number): void {
    const trouble = this.#troubles.get(exitId);
    if (!trouble) return;
    trouble.probing = true;
    trouble.outUntil = now + PROBE_MS;
  }

  worked(exitId: string): void {
    this.#troubles.delete(exitId);
  }

  failed(exitId: string, now: number): void {
    const before = this.#troubles.get(exitId);
    // Requests that were under way when it failed fail too; together they are one failure.
    if (before && !before.probing && now < before.outUntil) return;
    const failures = (before?.failures ?? 0) + 1;
    const outMs = Math.min(OUT_MS_FIRST * 2 ** (failures - 1), OUT_MS_LONGEST);
    this.#troubles.set(exitId, { failures, outUntil: now + outMs, probing: false });
  }
}
