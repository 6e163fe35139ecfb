import type { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';

/** Failures of an exit or its account, not of the target. */
export type ExitFault = 'upstream_failed' | 'rate_limited' | 'account_refused' | 'no_exit';

type Backoff = { firstMs: number; longestMs: number };
const OUTAGE: Backoff = { firstMs: 30_000, longestMs: 600_000 };
const BACKOFF: Record<ExitFault, Backoff> = {
  upstream_failed: OUTAGE,
  account_refused: OUTAGE,
  no_exit: OUTAGE,
  // A rate limit usually lasts seconds.
  rate_limited: { firstMs: 2_000, longestMs: 60_000 },
};

/** How long to wait for the result of a probe before another request may try the exit. */
const PROBE_MS = 30_000;
/** A vendor's place has many addresses: it is at fault only after this many failures in a row. */
const VENDOR_FAILURES = 3;
/** An upstream that refuses without a reason is at fault only after so many refusals in a row that share neither host nor scan. */
const REFUSALS = 3;
/** Lowest score: an exit that keeps failing still gets this share of the sessions that its size would give it. */
const SCORE_MIN = 1 / 16;
/** Limit of exits and accounts of which each kind of failure is kept; the oldest are dropped first. */
const BREAKERS_MAX = 10_000;

/** `failures` in a row; `until` is 0 while there were too few for an outage; `score` from SCORE_MIN to 1. */
type Breaker = { fault: ExitFault; failures: number; until: number; isProbing: boolean; score: number };

export type ExitState = 'available' | 'probing' | ExitFault;

/** What a connection was for: the target's host and the id of the scan. */
export type Purpose = { host: string; scan: string };

/**
 * Which exits and accounts are unavailable, a circuit breaker for each. An exit that fails is unavailable for 30 s; then one request probes
 * it, and no other uses it until the result is known. Another failure doubles the time, up to 10 minutes; a success ends the outage, and
 * the share of sessions grows back step by step. Times are Unix milliseconds.
 */
export class ExitHealth {
  readonly #breakers = new Map<string, Breaker>();
  /** How often in a row exits and accounts could not be verified. */
  readonly #distrusted = new Map<string, number>();
  /** What exits and accounts have refused in a row without a reason, as far as it differs. */
  readonly #refused = new Map<string, Purpose[]>();

  /** Of the exit itself, or of the account that it needs. */
  state({ id, account }: Pick<Exit, 'id' | 'account'>, now: number): ExitState {
    const own = this.#stateOf(id, now);
    return own === 'available' && account !== undefined ? this.#stateOf(account, now) : own;
  }

  /** From 0 to 1: how often the exit should be chosen, in proportion to its size. */
  score({ id, account = id }: Pick<Exit, 'id' | 'account'>): number {
    const trust = 2 ** -(this.#distrusted.get(account) ?? 0);
    return Math.max(SCORE_MIN, (this.#breakers.get(id)?.score ?? 1) * trust);
  }

  /**
   * A check through the exit brought an answer that is not the service's: each halves the share of the exit, or of all exits of its account.
   * Its connections work, so that there is no outage, and the service itself may be broken.
   */
  distrusted({ id, account = id }: Pick<Exit, 'id' | 'account'>): void {
    keep(this.#distrusted, account, (this.#distrusted.get(account) ?? 0) + 1);
  }

  verified({ id, account = id }: Pick<Exit, 'id' | 'account'>): void {
    this.#distrusted.delete(account);
  }

  /** A ticket for the exit was issued: during an outage, that is the probe. */
  assigned({ id, account }: Exit, now: number): void {
    for (const key of account === undefined ? [id] : [id, account]) {
      const breaker = this.#breakers.get(key);
      if (!breaker || breaker.until === 0) continue;
      breaker.isProbing = true;
      breaker.until = now + PROBE_MS;
    }
  }

  succeeded({ id, account }: Exit): void {
    this.#refused.delete(id);
    if (account !== undefined) {
      this.#refused.delete(account);
      this.#breakers.delete(account);
    }
    const breaker = this.#breakers.get(id);
    if (!breaker) return;
    const score = breaker.score * 2;
    if (score >= 1) this.#breakers.delete(id);
    else this.#breakers.set(id, { ...breaker, failures: 0, until: 0, isProbing: false, score });
  }

  /**
   * Takes the exit or its account out of service where the failure is theirs; returns whether it is, or may be. One that may be the target's counts
   * only with others of its kind; without a `purpose`, the target is one that the operator has chosen.
   */
  failed({ id, account }: Exit, failure: ConnectionFailure, now: number, purpose?: Purpose): boolean {
    const fault = asFault(failure.outcome);
    if (fault === null) return false;
    const key = failure.isAccount && account !== undefined ? account : id;
    const unexplained = failure.mayBeTargets ? purpose : undefined;
    if (unexplained && !this.#refusesAll(key, unexplained)) return true;
    const isOneOfMany = account !== undefined && key === id && fault === 'upstream_failed' && !unexplained;
    const tolerated = isOneOfMany ? VENDOR_FAILURES - 1 : 0;
    const before = this.#breakers.get(key);
    // Requests in progress when the exit failed fail too; together they count as one failure.
    if (before && !before.isProbing && now < before.until) return true;
    const failures = (before?.failures ?? 0) + 1;
    const outageMs = failures > tolerated ? outageOf(fault, failures - tolerated, failure.retryAfterSeconds) : 0;
    const until = outageMs === 0 ? 0 : now + outageMs;
    const score = Math.max((before?.score ?? 1) / 2, SCORE_MIN);
    keep(this.#breakers, key, { fault, failures, until, isProbing: false, score });
    return true;
  }

  /** Whether the exit or account has refused enough that no single page or host explains it. */
  #refusesAll(key: string, { host, scan }: Purpose): boolean {
    const before = this.#refused.get(key) ?? [];
    const isKnown = before.some((one) => one.host === host || one.scan === scan);
    const refused = isKnown || before.length >= REFUSALS ? before : [...before, { host, scan }];
    keep(this.#refused, key, refused);
    return refused.length >= REFUSALS;
  }

  #stateOf(key: string, now: number): ExitState {
    const breaker = this.#breakers.get(key);
    if (!breaker || now >= breaker.until) return 'available';
    return breaker.isProbing ? 'probing' : breaker.fault;
  }
}

/** Sets the value of an exit or account as the newest one. */
function keep<Value>(all: Map<string, Value>, key: string, value: Value): void {
  all.delete(key);
  all.set(key, value);
  const [oldest] = all.keys();
  if (all.size > BREAKERS_MAX && oldest !== undefined) all.delete(oldest);
}

/** Whether the exit or its account is at fault, not the target or a timeout. Pure. */
export const isExitFault = ({ outcome }: ConnectionFailure): boolean => asFault(outcome) !== null;

const asFault = (outcome: ConnectionFailure['outcome']): ExitFault | null =>
  outcome in BACKOFF ? (outcome as ExitFault) : null;

function outageOf(fault: ExitFault, failures: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000;
  const { firstMs, longestMs } = BACKOFF[fault];
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
