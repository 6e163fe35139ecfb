import { GATEWAY_OUTCOMES, type GatewayOutcome } from './exit-ticket.ts';

/**
 * The HTTP status of the gateway's own response for each outcome, to a CONNECT and to a plain http request. All are
 * from 590 to 599, which no registry assigns, so that our failures are never mistaken for pages. The two limits of a
 * ticket share one, and so do the two refusals of a host.
 */
export const GATEWAY_STATUS = {
  denied_host: 591,
  too_large: 590,
  too_many_requests: 590,
  private_address: 591,
  account_refused: 592,
  dns: 593,
  connection_refused: 594,
  connection_failed: 595,
  no_exit: 596,
  rate_limited: 597,
  timeout: 598,
  upstream_failed: 599,
} as const satisfies Record<Exclude<GatewayOutcome, 'ok'>, number>;

/**
 * The header that names the outcome in a response of the gateway itself. A target can send any status, 59x included,
 * but not this header: the gateway removes it from responses of targets. Over https no response of the gateway can
 * reach a page.
 */
export const GATEWAY_OUTCOME_HEADER = 'adsweep-gateway-outcome';

/**
 * The outcome in the headers (names in lower case) of a plain http response, null for a target's response. A proxy
 * challenge is the gateway's own too (the ticket has expired): the gateway removes it from responses of targets, so
 * that a 407 of a target is a page.
 */
export function gatewayOutcome(headers: Record<string, string | string[] | undefined>): GatewayOutcome | null {
  if (headers['proxy-authenticate'] !== undefined) return 'upstream_failed';
  return GATEWAY_OUTCOMES.find((outcome) => outcome === headers[GATEWAY_OUTCOME_HEADER]) ?? null;
}
