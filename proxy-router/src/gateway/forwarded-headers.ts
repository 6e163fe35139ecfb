import { validateHeaderName, validateHeaderValue } from 'node:http';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';

/** Headers that are between two neighbours only (RFC 9110 7.6.1), and those that this gateway alone may write or read. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  GATEWAY_OUTCOME_HEADER,
]);

/** The raw headers (name, value, name, value...) of a message without those that end here and those Node.js refuses to write. */
function forwarded(rawHeaders: string[], alsoDropped: string[]): string[] {
  const dropped = new Set([...NOT_FORWARDED, ...connectionOptions(rawHeaders), ...alsoDropped]);
  return pairs(rawHeaders)
    .filter(([name, value]) => !dropped.has(name.toLowerCase()) && isWritable(name, value))
    .flat();
}

/**
 * What a target gets to see. The host is the URL's: a different `Host` beside it would be a way to reach one site and be recorded with
 * another (RFC 9112 3.2.2). A body that came in chunks goes on in chunks, so that no target can take it for another request.
 */
export function requestHeaders(rawHeaders: string[], host: string, upgrade: string | undefined): string[] {
  const isChunked = pairs(rawHeaders).some(([name]) => name.toLowerCase() === 'transfer-encoding');
  const headers = ['Host', host, ...forwarded(rawHeaders, isChunked ? ['host', 'content-length'] : ['host'])];
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  if (upgrade) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  else headers.push('Connection', 'close');
  return headers;
}

/** What the client gets to see of a target's answer. Where a target gives two lengths, the chunks say the true one. */
export function responseHeaders(rawHeaders: string[]): string[] {
  const isChunked = pairs(rawHeaders).some(([name]) => name.toLowerCase() === 'transfer-encoding');
  return forwarded(rawHeaders, isChunked ? ['content-length'] : []);
}

/** The names that a `Connection` header declares to end here. */
function connectionOptions(rawHeaders: string[]): string[] {
  return pairs(rawHeaders)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((option) => option.trim());
}

function pairs(rawHeaders: string[]): [string, string][] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[index * 2 + 1]!]);
}

function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
