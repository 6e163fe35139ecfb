import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';

/**
 * What else is known of a failure. `isAccount`: the vendor's account or endpoint is at fault, not just the exit. `retryAfterSeconds`:
 * what an upstream that limits the rate asked for.
 */
type Details = { cause?: unknown; isAccount?: boolean; retryAfterSeconds?: number };

/** Why a target was not connected to; the gateway answers it with the status of `GATEWAY_STATUS`. */
export class ConnectionFailure extends Error {
  readonly outcome: Exclude<GatewayOutcome, 'ok'>;
  readonly isAccount: boolean;
  readonly retryAfterSeconds: number | null;

  constructor(outcome: ConnectionFailure['outcome'], text: string, details: Details = {}) {
    super(text, { cause: details.cause });
    this.outcome = outcome;
    this.isAccount = details.isAccount ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}
