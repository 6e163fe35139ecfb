import { GATEWAY_OUTCOMES, type GatewayOutcome } from './exit-ticket.ts';

/**
 * HTTP status of the gateway's own answer for each way it can fail, to a CONNECT and to a plain http request alike. All are 59x,
 * which no registry gives a meaning, so that a failure of ours is never taken for a page.
 */
export const GATEWAY_STATUS = {
  too_large: 590,
  private_address: 591,
  dns: 593,
  connection_refused: 594,
  connection_failed: 595,
  timeout: 598,
  upstream_failed: 599,
} as const satisfies Record<Exclude<GatewayOutcome, 'ok'>, number>;

/**
 * The header that names the outcome in an answer the gateway made itself. A target can send any status, 59x included, but not this
 * header: the gateway takes it out of what targets answer. Over https no answer of the gateway can reach a page.
 */
export const GATEWAY_OUTCOME_HEADER = 'adsweep-gateway-outcome';

/**
 * The outcome in the headers (names in lower case) of a plain http answer, null where a target answered. A proxy's challenge is the
 * gateway's own too (a ticket that ran out): it is not passed on from targets, so that one of theirs with status 407 is a page.
 */
export function gatewayOutcome(headers: Record<string, string | string[] | undefined>): GatewayOutcome | null {
  if (headers['proxy-authenticate'] !== undefined) return 'upstream_failed';
  return GATEWAY_OUTCOMES.find((outcome) => outcome === headers[GATEWAY_OUTCOME_HEADER]) ?? null;
}
