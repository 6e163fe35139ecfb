import { DAY_MS, HOUR_MS } from '@adsweep/shared/durations.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';

/** How messages to a destination end. `last_error`: why the last one failed, in words for its owner. */
export type DestinationHealth = {
  consecutive_failures: number;
  last_delivery_at: Date | null;
  /** The status of the last answer (HTTP or SMTP); null: none came. */
  last_delivery_status: number | null;
  last_error: string | null;
  /** The first failure since the last success; null: it does not fail. */
  failing_since: Date | null;
  /** Nothing is sent before this, because it fails; null: it does not. */
  paused_until: Date | null;
};

export const HEALTHY: Readonly<DestinationHealth> = {
  consecutive_failures: 0,
  last_delivery_at: null,
  last_delivery_status: null,
  last_error: null,
  failing_since: null,
  paused_until: null,
};

/** The result of a message. `status`: of the answer; null: none came. */
export type SendOutcome =
  | { sent: true; status: number }
  | { sent: false; status: number | null; reason: string; retryAfterMs?: number | null; cause?: unknown };

/** A message is tried for this long, and a destination that fails for this long is switched off (decisions 12). */
export const TRIED_FOR_MS = DAY_MS;
const BACKOFF: Backoff = { minMs: 5_000, maxMs: HOUR_MS };

/** How long after try number `failures` (0: the first) a failed message is tried again, in ms. */
export const pauseAfter = (failures: number, retryAfterMs: number | null = null, random = Math.random()): number =>
  Math.min(Math.max(backoffMs(BACKOFF, failures, random), retryAfterMs ?? 0), BACKOFF.maxMs);

/** The health after a message. */
export function afterSending(health: DestinationHealth, outcome: SendOutcome, now: Date): DestinationHealth {
  const last = { last_delivery_at: now, last_delivery_status: outcome.status };
  if (outcome.sent) return { ...HEALTHY, ...last };
  const pauseMs = pauseAfter(health.consecutive_failures, outcome.retryAfterMs);
  return {
    ...last,
    last_error: outcome.reason,
    consecutive_failures: health.consecutive_failures + 1,
    failing_since: health.failing_since ?? now,
    paused_until: new Date(now.getTime() + pauseMs),
  };
}

/** Whether it has failed for so long that it is switched off. */
export const hasFailedTooLong = ({ failing_since }: DestinationHealth, now: Date): boolean =>
  failing_since !== null && now.getTime() - failing_since.getTime() >= TRIED_FOR_MS;
