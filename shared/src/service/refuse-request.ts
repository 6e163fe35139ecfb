import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The longest URL that is served, in characters: room for a list of ids in a query. Longer: 414 (RFC 9110 15.5.15). */
export const URL_LENGTH_MAX = 24 * 1024;
/** The most bytes that a request's line and headers may have together. More: 431 (RFC 6585 5). */
export const HEADER_BYTES_MAX = 48 * 1024;

/**
 * How long a refused client may keep sending: if we closed at once, it would see a broken connection instead of the
 * refusal.
 */
const DRAIN_MS = 2_000;

type Refusal = { status: string; code: string; detail: string };

const TOO_LONG: Refusal = {
  status: '414 URI Too Long',
  code: 'url_too_long',
  detail: `The URL may have at most ${URL_LENGTH_MAX} characters.`,
};
const TOO_LARGE: Refusal = {
  status: '431 Request Header Fields Too Large',
  code: 'headers_too_large',
  detail: `The headers may have at most ${HEADER_BYTES_MAX} bytes.`,
};
const TOO_SLOW: Refusal = {
  status: '408 Request Timeout',
  code: 'request_timeout',
  detail: 'The request did not arrive in time.',
};
const MALFORMED: Refusal = { status: '400 Bad Request', code: 'bad_request', detail: 'This is not an HTTP request.' };

const NO_HOST: Refusal = { status: '400 Bad Request', code: 'bad_request', detail: 'The request names no host.' };
const NO_TUNNEL: Refusal = {
  status: '405 Method Not Allowed',
  code: 'method_not_allowed',
  detail: 'No tunnels are opened here.',
};

/** Responds 414 to a request whose URL is too long, and 400 to one without a host; returns whether it did. */
export function refuseRequest(request: IncomingMessage, response: ServerResponse): boolean {
  const refusal = refusalOf(request);
  if (!refusal) return false;
  const { status, code, detail } = refusal;
  const body = JSON.stringify({ detail, code });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  response.writeHead(Number.parseInt(status, 10), headers).end(body);
  return true;
}

function refusalOf({ url = '', headers, httpVersion }: IncomingMessage): Refusal | null {
  if (url.length > URL_LENGTH_MAX) return TOO_LONG;
  return headers.host === undefined && httpVersion === '1.1' ? NO_HOST : null;
}

/** Responds 405 to a CONNECT (an HTTP server's `connect`) and ends the connection. */
export function refuseTunnel(_: IncomingMessage, socket: Duplex): void {
  end(socket, NO_TUNNEL);
}

type ClientError = Error & { code?: string; rawPacket?: Buffer };

/**
 * Responds to what is not an HTTP request (an HTTP server's `clientError`) with the body of a refusal and further
 * `headers`, and ends the connection.
 */
export function refuseUnreadable(error: ClientError, socket: Duplex, headers: Record<string, string> = {}): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  end(socket, refusalFor(error), headers);
}

function end(socket: Duplex, { status, code, detail }: Refusal, headers: Record<string, string> = {}): void {
  const body = JSON.stringify({ detail, code });
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${own.join('')}Connection: close\r\n\r\n`;
  // Otherwise the parser would report every further packet as an error again.
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .on('error', () => {});
  socket.end(head + body);
  const timer = setTimeout(() => socket.destroy(), DRAIN_MS);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}

function refusalFor({ code, rawPacket }: ClientError): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return TOO_SLOW;
  if (code !== 'HPE_HEADER_OVERFLOW') return MALFORMED;
  return isInRequestLine(rawPacket) ? TOO_LONG : TOO_LARGE;
}

/** Whether a packet without an early end of line belongs to the request line. */
function isInRequestLine(packet: Buffer | undefined): boolean {
  const end = packet?.indexOf('\n') ?? 0;
  return end === -1 || end > URL_LENGTH_MAX;
}
