import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';

/**
 * Details of a failure. `isAccount`: the vendor's account or endpoint is at fault, not just the exit. `mayBeTargets`:
 * the upstream answered without a reason, so that it may refuse this target alone. `retryAfterSeconds`: the delay that
 * a rate-limiting upstream asked for.
 */
type Details = { cause?: unknown; isAccount?: boolean; mayBeTargets?: boolean; retryAfterSeconds?: number };

/** Why a connection to a target failed; the gateway responds with the status in `GATEWAY_STATUS`. */
export class ConnectionFailure extends Error {
  readonly outcome: Exclude<GatewayOutcome, 'ok'>;
  readonly isAccount: boolean;
  readonly mayBeTargets: boolean;
  readonly retryAfterSeconds: number | null;

  constructor(outcome: ConnectionFailure['outcome'], text: string, details: Details = {}) {
    super(text, { cause: details.cause });
    this.outcome = outcome;
    this.isAccount = details.isAccount ?? false;
    this.mayBeTargets = details.mayBeTargets ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}
