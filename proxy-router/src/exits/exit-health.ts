import type { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';

/** Failures that are the exit's or its account's, and not the target's. */
export type ExitFault = 'upstream_failed' | 'rate_limited' | 'account_refused' | 'no_exit';

type Backoff = { firstMs: number; longestMs: number };
const OUTAGE: Backoff = { firstMs: 30_000, longestMs: 600_000 };
const BACKOFF: Record<ExitFault, Backoff> = {
  upstream_failed: OUTAGE,
  account_refused: OUTAGE,
  no_exit: OUTAGE,
  // Somebody who limits a rate means seconds.
  rate_limited: { firstMs: 2_000, longestMs: 60_000 },
};

/** How long the result of a probe is waited for before another request may try the exit. */
const PROBE_MS = 30_000;
/** A vendor's place has many addresses: this many failures in a row, and no fewer, are its own. */
const VENDOR_FAILURES = 3;
/** What an exit that keeps failing is still chosen for, as a share of what its size would give it. */
const SCORE_MIN = 1 / 16;
/** Exits whose troubles are remembered; beyond that the oldest are forgotten. */
const TROUBLED_MAX = 10_000;

/** `failures` in a row; `until` is 0 while there were too few for an outage; `score` from SCORE_MIN to 1. */
type Trouble = { fault: ExitFault; failures: number; until: number; isProbing: boolean; score: number };

export type ExitState = 'available' | 'probing' | ExitFault;

/**
 * Which exits and accounts are unavailable, a circuit breaker for each. An exit that fails is unavailable for 30 s; then one request probes
 * it, and no other uses it until the result is known. Another failure doubles the time, up to 10 minutes; a success ends the outage, and
 * the share of sessions grows back step by step. Times are Unix milliseconds.
 */
export class ExitHealth {
  readonly #troubles = new Map<string, Trouble>();

  /** Of the exit itself, or of the account that it needs. */
  state({ id, account }: Pick<Exit, 'id' | 'account'>, now: number): ExitState {
    const own = this.#stateOf(id, now);
    return own === 'available' && account !== undefined ? this.#stateOf(account, now) : own;
  }

  /** From 0 to 1: how often the exit should be chosen, in proportion to its size. */
  score({ id }: Exit): number {
    return this.#troubles.get(id)?.score ?? 1;
  }

  /** A ticket for the exit was issued: during an outage, that is the probe. */
  assigned({ id, account }: Exit, now: number): void {
    for (const key of account === undefined ? [id] : [id, account]) {
      const trouble = this.#troubles.get(key);
      if (!trouble || trouble.until === 0) continue;
      trouble.isProbing = true;
      trouble.until = now + PROBE_MS;
    }
  }

  succeeded({ id, account }: Exit): void {
    if (account !== undefined) this.#troubles.delete(account);
    const trouble = this.#troubles.get(id);
    if (!trouble) return;
    const score = trouble.score * 2;
    if (score >= 1) this.#troubles.delete(id);
    else this.#troubles.set(id, { ...trouble, failures: 0, until: 0, isProbing: false, score });
  }

  /** Takes the exit or its account out of service where the failure is theirs; answers whether it is. */
  failed({ id, account }: Exit, failure: ConnectionFailure, now: number): boolean {
    const fault = asFault(failure.outcome);
    if (fault === null) return false;
    const key = failure.isAccount && account !== undefined ? account : id;
    const tolerated = account !== undefined && key === id && fault === 'upstream_failed' ? VENDOR_FAILURES - 1 : 0;
    const before = this.#troubles.get(key);
    // Requests that were in progress when the exit failed fail too; together they are one failure.
    if (before && !before.isProbing && now < before.until) return true;
    const failures = (before?.failures ?? 0) + 1;
    const outageMs = failures > tolerated ? outageOf(fault, failures - tolerated, failure.retryAfterSeconds) : 0;
    const until = outageMs === 0 ? 0 : now + outageMs;
    const score = Math.max((before?.score ?? 1) / 2, SCORE_MIN);
    this.#remember(key, { fault, failures, until, isProbing: false, score });
    return true;
  }

  #stateOf(key: string, now: number): ExitState {
    const trouble = this.#troubles.get(key);
    if (!trouble || now >= trouble.until) return 'available';
    return trouble.isProbing ? 'probing' : trouble.fault;
  }

  #remember(key: string, trouble: Trouble): void {
    this.#troubles.delete(key);
    this.#troubles.set(key, trouble);
    const [oldest] = this.#troubles.keys();
    if (this.#troubles.size > TROUBLED_MAX && oldest !== undefined) this.#troubles.delete(oldest);
  }
}

/** Whether the exit or its account is at fault, and not the target or the time that was given. Pure. */
export const isExitFault = ({ outcome }: ConnectionFailure): boolean => asFault(outcome) !== null;

const asFault = (outcome: ConnectionFailure['outcome']): ExitFault | null =>
  outcome in BACKOFF ? (outcome as ExitFault) : null;

function outageOf(fault: ExitFault, failures: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000;
  const { firstMs, longestMs } = BACKOFF[fault];
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
