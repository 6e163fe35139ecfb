import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';

/** Why a target was not connected to; the gateway answers it with the status of `GATEWAY_STATUS`. */
export class ConnectionFailure extends Error {
  readonly outcome: Exclude<GatewayOutcome, 'ok'>;

  constructor(outcome: ConnectionFailure['outcome'], text: string, cause?: unknown) {
    super(text, { cause });
    this.outcome = outcome;
  }
}
