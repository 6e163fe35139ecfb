import type { FailureCode } from '@adsweep/shared/failures.ts';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { type GatewayOutcome, STALLED_MS, type TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { withoutBrackets } from '@adsweep/shared/urls/public-host.ts';

/**
 * The failure code for each of Playwright's and Chromium's error texts of a failed navigation. The first match counts.
 */
const ERRORS: [RegExp, FailureCode][] = [
  [/ERR_TOO_MANY_REDIRECTS/, 'navigation: TOO_MANY_REDIRECTS'],
  [/Download is starting/, 'navigation: DOWNLOAD'],
  [
    /ERR_UNSAFE_REDIRECT|ERR_INVALID_REDIRECT|ERR_(UNKNOWN|DISALLOWED)_URL_SCHEME|ERR_INVALID_URL|ERR_UNSAFE_PORT|ERR_BLOCKED_BY|invalid URL/,
    'navigation: BLOCKED_URL',
  ],
  [/ERR_NAME_(NOT_RESOLVED|RESOLUTION_FAILED)|ERR_ICANN_NAME_COLLISION/, 'navigation: DNS'],
  [/ERR_CERT_|ERR_SSL_|ERR_BAD_SSL/, 'navigation: TLS'],
  // Our gateway does not respond, or does not know the ticket any more.
  [/ERR_PROXY_|ERR_TUNNEL_CONNECTION_FAILED|_PROXY_AUTH|ERR_INVALID_AUTH_CREDENTIALS/, 'proxy: UPSTREAM_FAILED'],
  [/ERR_(CONNECTION_)?TIMED_OUT|Timeout \d+ms exceeded|took longer than/, 'navigation: TIMEOUT'],
  [/crashed|has been closed|browser is gone/i, 'browser: CRASHED'],
  [/ERR_OUT_OF_MEMORY/, 'browser: OUT_OF_MEMORY'],
];

/** A browser that had no time for its pages for so long, in ms, is why a navigation took too long. */
const CONGESTED_MS = 5_000;

/** Playwright's own deadline, not a network timeout. */
const OUR_TIMEOUT = /Timeout \d+ms exceeded/;

const OUTCOMES: Record<Exclude<GatewayOutcome, 'ok'>, FailureCode> = {
  dns: 'navigation: DNS',
  private_address: 'navigation: BLOCKED_URL',
  connection_refused: 'navigation: CONNECTION_FAILED',
  connection_failed: 'navigation: CONNECTION_FAILED',
  timeout: 'navigation: TIMEOUT',
  upstream_failed: 'proxy: UPSTREAM_FAILED',
  rate_limited: 'proxy: RATE_LIMITED',
  account_refused: 'proxy: ACCOUNT_REFUSED',
  no_exit: 'proxy: NODE_NOT_FOUND',
  denied_host: 'navigation: BLOCKED_URL',
  too_large: 'navigation: CONNECTION_FAILED',
  too_many_requests: 'navigation: CONNECTION_FAILED',
};

/** The last navigation of the page's own tab. */
export type LastHop = {
  url: string;
  statusCode: number;
  fault: string;
  gateway: GatewayOutcome | null;
  attachment: boolean;
  /**
   * For how many ms it had received nothing when the capture ended, 0 = it was complete, or received nothing at all.
   */
  silentMs: number;
};

/** The failure code for an error of the browser; an unknown error is a broken connection. Pure. */
export const failureOfError = (text: string): FailureCode =>
  ERRORS.find(([pattern]) => pattern.test(text))?.[1] ?? 'navigation: CONNECTION_FAILED';

/**
 * Why a visit failed, null = it did not. `error` is the error of the first navigation, '' = a document was loaded. Any
 * response of the target itself, whatever its status, is a page; an error response of our gateway never is.
 * `congestedMs`: for how long the browser had no time for its pages during the visit. Pure.
 */
export function failureOfVisit(
  error: string,
  hop: LastHop | null,
  traffic: TicketTraffic | null,
  congestedMs = 0,
): FailureCode | null {
  if (hop) {
    const outcome = hop.gateway ?? (isBroken(hop) ? outcomeOf(hop.url, traffic) : 'ok');
    if (outcome !== 'ok') return OUTCOMES[outcome];
    if (isBrowserLate(error, hop, traffic, congestedMs)) return 'browser: TIMEOUT';
    // A later navigation that was aborted leaves the page as it is.
    if (error) return failureOfAborted(hop, error) ?? failureOfError(isBroken(hop) ? hop.fault : error);
    if (isBroken(hop)) return failureOfError(hop.fault);
    return isStalled(hop, traffic) ? 'proxy: UPSTREAM_FAILED' : null;
  }
  // The browser has not even sent a request: no target is to blame for that.
  if (OUR_TIMEOUT.test(error)) return 'browser: TIMEOUT';
  return error ? failureOfError(error) : null;
}

/** The failure of a browser that has ended or does not respond; null for other errors, such as our own. Pure. */
export function failureOfBrowser(error: unknown): FailureCode | null {
  if (!(error instanceof Error)) return null;
  if (failureOfError(error.message) === 'browser: CRASHED') return 'browser: CRASHED';
  return error instanceof DeadlineError || error.name === 'TimeoutError' ? 'browser: TIMEOUT' : null;
}

const isBroken = ({ fault }: LastHop): boolean => fault !== '' && !fault.includes('ERR_ABORTED');

/** Whether the upstream of the exit stopped sending in the middle of the document. */
const isStalled = ({ url, silentMs }: LastHop, traffic: TicketTraffic | null): boolean =>
  silentMs >= STALLED_MS && traffic !== null && hostIn(traffic, url)?.stalled === true;

/**
 * Whether our timeout for a navigation passed although the target had answered, before the browser had sent the
 * request, or while other pages kept the browser busy.
 */
function isBrowserLate(error: string, hop: LastHop, traffic: TicketTraffic | null, congestedMs: number): boolean {
  if (!OUR_TIMEOUT.test(error) || isBroken(hop)) return false;
  return (
    congestedMs >= CONGESTED_MS || hop.statusCode > 0 || (traffic !== null && hostIn(traffic, hop.url) === undefined)
  );
}

/** Chromium aborts navigations to what it cannot show. */
function failureOfAborted({ url, statusCode, attachment, fault }: LastHop, error: string): FailureCode | null {
  if (!fault.includes('ERR_ABORTED')) return null;
  if (statusCode === 204 || statusCode === 205) return 'navigation: NO_CONTENT';
  if (!/^https?:/.test(url)) return 'navigation: BLOCKED_URL';
  if (attachment || statusCode > 0) return 'navigation: DOWNLOAD';
  // A redirect to `javascript:` is reported without any response.
  return error.includes('ERR_ABORTED') ? 'navigation: BLOCKED_URL' : null;
}

/** The gateway's outcome for the host that was dialled: over https its error response cannot reach the browser. */
const outcomeOf = (url: string, traffic: TicketTraffic | null): GatewayOutcome =>
  (traffic && hostIn(traffic, url)?.outcome) ?? 'ok';

function hostIn(traffic: TicketTraffic, url: string): TicketTraffic['hosts'][number] | undefined {
  // An HTTP redirect can name an invalid URL.
  const dialled = URL.parse(url);
  if (!dialled) return undefined;
  const { hostname, port, protocol } = dialled;
  const number = Number(port) || (protocol === 'https:' ? 443 : 80);
  return traffic.hosts.find((host) => withoutBrackets(host.host) === withoutBrackets(hostname) && host.port === number);
}
