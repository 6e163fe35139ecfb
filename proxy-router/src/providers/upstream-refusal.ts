import { ConnectionFailure } from './connection-failure.ts';

type Outcome = ConnectionFailure['outcome'];

/** An upstream's response to a CONNECT that is not 2xx. Header names are in lower case. */
export type UpstreamAnswer = { status: number; reason: string; headers: Map<string, string>; body: string };

/** Patterns of a vendor's response texts with their outcomes; the first match counts. */
export type RefusalTexts = [pattern: RegExp, outcome: Outcome][];

/** Statuses that mean the same with every upstream; 593 to 598 are those of proxy-chain. */
const STATUSES: Record<number, Outcome> = {
  401: 'account_refused',
  402: 'account_refused',
  407: 'account_refused',
  429: 'rate_limited',
  593: 'dns',
  594: 'connection_refused',
  595: 'connection_failed',
  597: 'account_refused',
  598: 'timeout',
};

/** Outcomes of statuses if nothing in the answer says more. */
const WITHOUT_TEXT: Record<number, Outcome> = { 403: 'account_refused', 404: 'no_exit' };

/** `error` of `Proxy-Status` (RFC 9209 2.3). */
const PROXY_STATUS_ERRORS: Record<string, Outcome> = {
  dns_timeout: 'dns',
  dns_error: 'dns',
  connection_refused: 'connection_refused',
  connection_terminated: 'connection_failed',
  connection_timeout: 'timeout',
  destination_ip_unroutable: 'connection_failed',
};

/** Patterns that vendors have in common. */
const TEXTS: RefusalTexts = [
  [/\b(no such|unknown|unsupported|invalid) (place|location|country|region|state|city|isp|asn)\b/i, 'no_exit'],
  [/\bno (exit|peer|proxy|proxies|ip|node)s?( node)?s? (found|match\w*)\b/i, 'no_exit'],
  [
    /\b(could not|cannot|can't|failed to|unable to) (be )?resolve|ENOTFOUND|\bdns (error|failure|lookup)|\bERR_DNS_FAIL\b/i,
    'dns',
  ],
  // Squid, with the number of the error (Linux) in its header.
  [/\bERR_CONNECT_FAIL 111\b/, 'connection_refused'],
  [/\bERR_CONNECT_FAIL 110\b/, 'timeout'],
  [/\bERR_CONNECT_FAIL\b/, 'connection_failed'],
  [/\brate.?limit|too many (requests|connections|sessions)|throttl/i, 'rate_limited'],
  [
    /\b(account|customer|zone|user)\b.{0,40}\b(suspended|disabled|blocked|expired)\b|insufficient (balance|funds)/i,
    'account_refused',
  ],
];

const ERROR_HEADER = /^(proxy-status|x-.*err(or)?(-.*)?)$/;
const TEXT_MAX = 200;
const RETRY_AFTER_SECONDS_MAX = 60;

/**
 * Why an upstream did not connect to the target `host`, from its vendor's texts, its status and `Proxy-Status`;
 * `upstream_failed` if none is known. The text is for our log and has no credentials in it. Pure.
 */
export function upstreamRefusal(answer: UpstreamAnswer, vendorTexts: RefusalTexts, host: string): ConnectionFailure {
  const text = textOf(answer, host);
  const message = `the upstream answered ${text.slice(0, TEXT_MAX)}`;
  const reason = reasonOf(answer, text, vendorTexts);
  const outcome = reason ?? WITHOUT_TEXT[answer.status] ?? 'upstream_failed';
  const isAccount = outcome === 'account_refused' || outcome === 'rate_limited';
  const wait = Number(answer.headers.get('retry-after'));
  const retryAfterSeconds = wait > 0 ? Math.min(wait, RETRY_AFTER_SECONDS_MAX) : undefined;
  return new ConnectionFailure(outcome, message, {
    isAccount,
    mayBeTargets: reason === undefined,
    ...(retryAfterSeconds && { retryAfterSeconds }),
  });
}

/** The outcome that the answer states; undefined: it states none. */
function reasonOf({ status, headers }: UpstreamAnswer, text: string, vendorTexts: RefusalTexts): Outcome | undefined {
  const standard = /\berror="?([a-z_]+)/.exec(headers.get('proxy-status') ?? '')?.[1] ?? '';
  const meaningIn = (texts: RefusalTexts) => texts.find(([pattern]) => pattern.test(text))?.[1];
  return meaningIn(vendorTexts) ?? STATUSES[status] ?? PROXY_STATUS_ERRORS[standard] ?? meaningIn(TEXTS);
}

/** What the answer says, without the target's name: a page chooses that, and it could read like a reason. */
function textOf({ status, reason, headers, body }: UpstreamAnswer, host: string): string {
  const errors = [...headers].filter(([name]) => ERROR_HEADER.test(name)).map(([, value]) => value);
  return [status, reason, ...errors, body].join(' ').replaceAll(host, '<target>').replace(/\s+/g, ' ').trim();
}
