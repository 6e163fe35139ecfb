import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';

/** Why a request goes no further; the gateway answers it with the status of {@link GATEWAY_STATUS}. */
export class GatewayFailure extends Error {
  readonly outcome: Exclude<GatewayOutcome, 'ok'>;

  constructor(outcome: GatewayFailure['outcome'], text: string, cause?: unknown) {
    super(text, { cause });
    this.outcome = outcome;
  }
}
