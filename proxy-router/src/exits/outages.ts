import type { Backoff } from '@adsweep/shared/service/retry.ts';
import { setNewest } from '@adsweep/shared/service/set-newest.ts';
import type { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit } from '../providers/exit.ts';

/** Failures of an exit or its account, not of the target. */
export type ExitFault = 'upstream_failed' | 'rate_limited' | 'account_refused' | 'no_exit';

const OUTAGE: Backoff = { minMs: 30_000, maxMs: 600_000 };
const BACKOFF: Record<ExitFault, Backoff> = {
  upstream_failed: OUTAGE,
  account_refused: OUTAGE,
  no_exit: OUTAGE,
  // A rate limit usually lasts seconds.
  rate_limited: { minMs: 2_000, maxMs: 60_000 },
};
/** The longest outage, in ms. */
export const OUTAGE_MAX_MS = OUTAGE.maxMs;

/** How long to wait for the result of a probe before another request may try the exit. */
const PROBE_MS = 30_000;
/** A vendor's place has many addresses: it is at fault only after this many failures in a row. */
const VENDOR_FAILURES = 3;
/**
 * An upstream that refuses without a reason is at fault only after so many refusals in a row that share neither host
 * nor scan.
 */
const REFUSALS = 3;
/** Lowest score: an exit that keeps failing still gets this share of the sessions that its size would give it. */
export const SCORE_MIN = 1 / 16;

/** `failures` in a row; `until` is 0 while there were too few for an outage; `score` from SCORE_MIN to 1. */
type Breaker = { fault: ExitFault; failures: number; until: number; isProbing: boolean; score: number };

export type ExitState = 'available' | 'probing' | ExitFault;

/** The target of a connection that failed: its host and the id of the scan. */
export type RefusedTarget = { host: string; scan: string };

/**
 * What a failure says of an exit or its account, by its key. `tolerated`: how many failures in a row are no outage yet.
 * `target`: it may be the fault of this one alone.
 */
export type Accusation = {
  key: string;
  fault: ExitFault;
  retryAfterSeconds: number | null;
  tolerated: number;
  target?: RefusedTarget | undefined;
};

/**
 * The outages of exits and accounts as one observer has seen them, a circuit breaker for each. One that fails is
 * unavailable for 30 s; then one request probes it, and no other uses it until the result is known. Another failure
 * doubles the time, up to 10 minutes; a success ends the outage, and the share of sessions grows back step by step.
 * Times are monotonic, in ms.
 */
export class Outages {
  readonly #most: number;
  readonly #breakers = new Map<string, Breaker>();
  /** What exits and accounts have refused in a row without a reason, as far as it differs. */
  readonly #refused = new Map<string, RefusedTarget[]>();

  /** `most`: how many exits and accounts are kept of each kind; the oldest are dropped first. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Of the exit itself, or of the account that it needs. */
  state({ id, account }: Pick<Exit, 'id' | 'account'>, now: number): ExitState {
    const own = this.#stateOf(id, now);
    return own === 'available' && account !== undefined ? this.#stateOf(account, now) : own;
  }

  /** The share of sessions that the failures of an exit leave it, from SCORE_MIN to 1. */
  score(id: string): number {
    return this.#breakers.get(id)?.score ?? 1;
  }

  /** Whether the exit or account has failed since it last worked well. */
  knows(key: string): boolean {
    return this.#breakers.has(key);
  }

  /** Takes over the outage that others have seen, unless this observer has one of its own. */
  learn(key: string, others: Outages): void {
    const known = others.#breakers.get(key);
    if (known && !this.#breakers.has(key)) this.#keep(this.#breakers, key, known);
  }

  /** During an outage, what is begun now is the probe. */
  probe(key: string, now: number): void {
    const breaker = this.#breakers.get(key);
    if (breaker && breaker.until !== 0) this.#breakers.set(key, { ...breaker, isProbing: true, until: now + PROBE_MS });
  }

  succeeded({ id, account }: Pick<Exit, 'id' | 'account'>): void {
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
   * Notes a failure; returns whether the exit or account is out of service now. One that may be a target's counts only
   * with others of its kind.
   */
  failed({ key, fault, retryAfterSeconds, tolerated, target }: Accusation, now: number): boolean {
    if (target && !this.#refusesAll(key, target)) return false;
    const before = this.#breakers.get(key);
    // Requests in progress when the exit failed fail too; together they count as one failure.
    if (before && !before.isProbing && now < before.until) return true;
    const failures = (before?.failures ?? 0) + 1;
    const outageMs = failures > tolerated ? outageOf(fault, failures - tolerated, retryAfterSeconds) : 0;
    const until = outageMs === 0 ? 0 : now + outageMs;
    const score = Math.max((before?.score ?? 1) / 2, SCORE_MIN);
    this.#keep(this.#breakers, key, { fault, failures, until, isProbing: false, score });
    return until > now;
  }

  /** Forgets an exit, or an account with all of its places. */
  forget(key: string): void {
    for (const all of [this.#breakers, this.#refused])
      for (const known of all.keys()) if (known === key || known.startsWith(`${key}/`)) all.delete(known);
  }

  /** Whether the exit or account has refused enough that no single page or host explains it. */
  #refusesAll(key: string, { host, scan }: RefusedTarget): boolean {
    const before = this.#refused.get(key) ?? [];
    const isKnown = before.some((one) => one.host === host || one.scan === scan);
    const refused = isKnown || before.length >= REFUSALS ? before : [...before, { host, scan }];
    this.#keep(this.#refused, key, refused);
    return refused.length >= REFUSALS;
  }

  #stateOf(key: string, now: number): ExitState {
    const breaker = this.#breakers.get(key);
    if (!breaker || now >= breaker.until) return 'available';
    return breaker.isProbing ? 'probing' : breaker.fault;
  }

  #keep<Value>(all: Map<string, Value>, key: string, value: Value): void {
    setNewest(all, key, value, this.#most);
  }
}

/**
 * What a failure of a connection to the `target` accuses; undefined: one that the operator has chosen. Null: no exit
 * and no account. Pure.
 */
export function accusationOf(
  { id, account }: Exit,
  failure: ConnectionFailure,
  target: RefusedTarget | undefined,
): Accusation | null {
  const { retryAfterSeconds } = failure;
  const fault = asFault(failure.outcome);
  if (fault === null) return null;
  const key = failure.isAccount && account !== undefined ? account : id;
  const unexplained = failure.mayBeTargets ? target : undefined;
  const isOneOfMany = account !== undefined && key === id && fault === 'upstream_failed' && !unexplained;
  return { key, fault, retryAfterSeconds, tolerated: isOneOfMany ? VENDOR_FAILURES - 1 : 0, target: unexplained };
}

/** Whether the exit or its account is at fault, not the target or a timeout. Pure. */
export const isExitFault = ({ outcome }: ConnectionFailure): boolean => asFault(outcome) !== null;

const asFault = (outcome: ConnectionFailure['outcome']): ExitFault | null =>
  outcome in BACKOFF ? (outcome as ExitFault) : null;

function outageOf(fault: ExitFault, failures: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000;
  const { minMs, maxMs } = BACKOFF[fault];
  return Math.min(minMs * 2 ** (failures - 1), maxMs);
}
