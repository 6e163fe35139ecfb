import { validateHeaderName, validateHeaderValue } from 'node:http';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { RELAYED_HEADER } from '../tickets/ticket.ts';

/** Hop-by-hop headers (RFC 9110 7.6.1), and headers between the gateway and its clients that no target may send or see. */
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
  RELAYED_HEADER,
]);

/** The raw headers (name, value, name, value...) of a message without those that are not forwarded or that Node.js cannot write. */
function forwarded(rawHeaders: string[], alsoDropped: string[]): string[] {
  const dropped = new Set([...NOT_FORWARDED, ...connectionOptions(rawHeaders), ...alsoDropped]);
  return pairs(rawHeaders)
    .filter(([name, value]) => !dropped.has(name.toLowerCase()) && isWritable(name, value))
    .flat();
}

/**
 * The headers of a request to its target. `Host` is the URL's host: a different one would reach one site and be recorded as another
 * (RFC 9112 3.2.2). A chunked body stays chunked, so that no target can read it as a second request.
 */
export function requestHeaders(rawHeaders: string[], host: string, upgrade: string | undefined): string[] {
  const isChunked = pairs(rawHeaders).some(([name]) => name.toLowerCase() === 'transfer-encoding');
  const headers = ['Host', host, ...forwarded(rawHeaders, isChunked ? ['host', 'content-length'] : ['host'])];
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  if (upgrade) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  else headers.push('Connection', 'close');
  return headers;
}

/** The headers of a target's response. Of two lengths, the chunked encoding wins (RFC 9112 6.3). */
export function responseHeaders(rawHeaders: string[]): string[] {
  const isChunked = pairs(rawHeaders).some(([name]) => name.toLowerCase() === 'transfer-encoding');
  return forwarded(rawHeaders, isChunked ? ['content-length'] : []);
}

/** The header names that `Connection` declares as hop-by-hop. */
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
