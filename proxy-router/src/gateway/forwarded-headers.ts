import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { RELAYED_HEADER } from '../tickets/ticket.ts';

/**
 * Fixed headers between two neighbours (RFC 9110 7.6.1, without those that frame the body), and ours, which no target
 * may see or send.
 */
export const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'upgrade',
  GATEWAY_OUTCOME_HEADER,
  RELAYED_HEADER,
]);
/** Headers that frame the body of a request: the gateway frames it anew. */
const FRAMING = ['te', 'trailer', 'transfer-encoding'];

type Header = [name: string, value: string];

/**
 * The headers of a request to its target. `Host` is the URL's host: a different one would reach one site and be
 * recorded as another (RFC 9112 3.2.2).
 */
export function requestHeaders(rawHeaders: readonly string[], host: string, upgrade: string | undefined): Header[] {
  const chunked = isChunked(rawHeaders);
  const dropped = new Set([
    ...NOT_FORWARDED,
    ...FRAMING,
    ...connectionOptions(rawHeaders),
    'host',
    chunked ? 'content-length' : '',
  ]);
  return [
    ['Host', host],
    ...headersOf(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase())),
    ...(chunked ? ([['Transfer-Encoding', 'chunked']] satisfies Header[]) : []),
    ['Connection', upgrade ? 'Upgrade' : 'close'],
    ...(upgrade ? ([['Upgrade', upgrade]] satisfies Header[]) : []),
  ];
}

/** A request's head as it is sent. */
export const requestHead = (line: string, headers: readonly Header[]): string =>
  `${[line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

export const isChunked = (rawHeaders: readonly string[]): boolean =>
  headersOf(rawHeaders).some(([name]) => name.toLowerCase() === 'transfer-encoding');

/**
 * The header names that `Connection` declares as hop-by-hop. Not the length: without it, a target would read the body as
 * a second request.
 */
const connectionOptions = (rawHeaders: readonly string[]): string[] =>
  headersOf(rawHeaders)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((option) => option.trim())
    .filter((option) => option !== 'content-length');

/** Raw headers (name, value, name, value...) as pairs. */
export function headersOf(rawHeaders: readonly string[]): Header[] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[index * 2 + 1]!]);
}
