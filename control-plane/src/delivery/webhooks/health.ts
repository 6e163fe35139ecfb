import { DAY_MS, HOUR_MS } from '@adsweep/shared/durations.ts';

/** How an endpoint answers. All its times are of the dispatcher's clock. */
export type Health = {
  consecutive_failures: number;
  /** When it was last tried, and the status of the answer; null: none came. */
  last: { at: Date; status: number | null } | null;
  /** The first failure since the last 2xx; null: it does not fail. */
  failing_since: Date | null;
  /** While it fails: when the last pause began, and when it ends and the next delivery is tried. */
  paused_at: Date | null;
  paused_until: Date | null;
  /** How often it was tried with one event alone, in vain, since it fails. */
  probes: number;
  /** Whether the warning of this outage was mailed. */
  is_warned: boolean;
  /** Tries of the last eight calendar days (UTC) that had any, oldest first. */
  days: DayCounts[];
};

type DayCounts = { day: string; succeeded: number; failed: number };

const SECOND_MS = 1_000;
/** Spec 6: an event is tried for this long, and an endpoint that fails for this long is switched off. */
export const WINDOW_MS = DAY_MS;
/** Spec 6: when the users are warned. */
const WARN_AFTER_MS = HOUR_MS;
const PROBE_MIN_MS = 5 * SECOND_MS;
const PROBE_MAX_MS = HOUR_MS;
/** A pause is shorter by at most this share, so that endpoints that failed together are not tried together. */
const JITTER = 1 / 5;
const RATE_DAYS = 7;

/** The health of an endpoint that starts anew; the counts of its tries remain. */
export const healthyFrom = (days: DayCounts[]): Health => ({
  consecutive_failures: 0,
  last: null,
  failing_since: null,
  paused_at: null,
  paused_until: null,
  probes: 0,
  is_warned: false,
  days,
});

/** One try: `status` null: no answer came. `startedAt`: when it began. */
export type Try = { startedAt: Date; at: Date; status: number | null; succeeded: boolean; retryAfterMs: number | null };

/**
 * The health after a try. A success that began before the endpoint failed ends no outage, but moves its beginning:
 * there was a 2xx. Only one failure of those that were under way together lengthens the pause. `windowEndsAt`: when the
 * event of the try is tried no more, which ends every pause.
 */
export function afterTry(health: Health, of: Try, windowEndsAt: Date, random = Math.random()): Health {
  const counted = { ...health, days: counting(health.days, of), last: { at: of.at, status: of.status } };
  const isOfBefore = health.paused_at !== null && of.startedAt < health.paused_at;
  if (of.succeeded) {
    if (isOfBefore) return { ...counted, consecutive_failures: 0, failing_since: of.at };
    return { ...healthyFrom(counted.days), last: counted.last };
  }
  const failing = { ...counted, consecutive_failures: health.consecutive_failures + 1 };
  if (isOfBefore) return failing;
  const pauseMs = Math.min(
    Math.max(probePauseMs(health.probes, random), of.retryAfterMs ?? 0),
    Math.max(SECOND_MS, windowEndsAt.getTime() - of.at.getTime()),
  );
  return {
    ...failing,
    failing_since: health.failing_since ?? of.at,
    probes: health.probes + 1,
    paused_at: of.at,
    paused_until: new Date(of.at.getTime() + pauseMs),
  };
}

/** The pause after failed probe number `probes` (0: the first failure), in ms. */
export const probePauseMs = (probes: number, random: number): number =>
  Math.round(Math.min(PROBE_MIN_MS * 2 ** probes, PROBE_MAX_MS) * (1 - JITTER * random));

function counting(days: DayCounts[], { at, succeeded }: Try): DayCounts[] {
  const day = dayOf(at);
  const known = days.find((one) => one.day === day) ?? { day, succeeded: 0, failed: 0 };
  const counted = succeeded ? { ...known, succeeded: known.succeeded + 1 } : { ...known, failed: known.failed + 1 };
  return [...days.filter((one) => one.day !== day), counted].slice(-RATE_DAYS - 1);
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The share of successful tries in the last seven days, today included; 1: none was made. */
export function successRate({ days }: Health, now: Date): number {
  const first = dayOf(new Date(now.getTime() - (RATE_DAYS - 1) * DAY_MS));
  const counted = days.filter(({ day }) => day >= first);
  const [succeeded, failed] = [sum(counted.map((one) => one.succeeded)), sum(counted.map((one) => one.failed))];
  return succeeded + failed === 0 ? 1 : succeeded / (succeeded + failed);
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/** What is due for a failing endpoint at `now`, apart from its next try. */
export function dueOfOutage({ failing_since, is_warned }: Health, now: Date): 'warn' | 'switch_off' | null {
  if (failing_since === null) return null;
  const failingMs = now.getTime() - failing_since.getTime();
  if (failingMs >= WINDOW_MS) return 'switch_off';
  return failingMs >= WARN_AFTER_MS && !is_warned ? 'warn' : null;
}

/** When a failing endpoint needs attention next, whether or not an event waits; null: it does not fail. */
export function outageDueAt({ failing_since, is_warned }: Health): Date | null {
  return failing_since && new Date(failing_since.getTime() + (is_warned ? WINDOW_MS : WARN_AFTER_MS));
}
