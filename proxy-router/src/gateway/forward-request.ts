import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Transform } from 'node:stream';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { isChunked, requestHead, requestHeaders } from './forwarded-headers.ts';
import { forwardedHead, readResponseHead, writeHead } from './response-head.ts';
import { pipe, pipeAnswer, type UpstreamConnection } from './upstream-connection.ts';

/**
 * Forwards one plain http request to the target of `url`, and the response back, byte for byte but for some of its
 * headers. `connection` serves this request only, and so does the client's connection.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  connection: UpstreamConnection,
): void {
  const { socket: client } = request;
  response.on('close', () => connection.socket.destroy());
  sendRequest(request, connection.socket, headOf(request, url, undefined));
  connection.countFrom(request);
  readResponseHead(connection, () => connection.count()).then(
    (head) => {
      if (head.status === 101) return sendFailure(client, connection);
      writeHead(client, forwardedHead(head));
      pipeAnswer(client, connection);
    },
    () => sendFailure(client, connection),
  );
}

/**
 * Forwards an upgrade request (RFC 9110 7.8), such as a WebSocket without TLS. If the target declines, its response is
 * forwarded like any other.
 */
export function forwardUpgrade(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  url: URL,
  connection: UpstreamConnection,
): void {
  client.on('close', () => connection.socket.destroy());
  writeHead(connection.socket, headOf(request, url, request.headers.upgrade));
  readResponseHead(connection, () => connection.count()).then(
    (answer) => {
      writeHead(client, forwardedHead(answer));
      if (answer.status !== 101) return pipeAnswer(client, connection);
      if (head.length > 0) client.unshift(head);
      pipe(client, connection);
    },
    () => sendFailure(client, connection),
  );
}

const headOf = ({ method, rawHeaders }: IncomingMessage, url: URL, upgrade: string | undefined): string =>
  requestHead(`${method} ${url.pathname}${url.search} HTTP/1.1`, requestHeaders(rawHeaders, url.host, upgrade));

/**
 * Sends a request with this head and its body. A chunked body stays chunked, so that no target can read it as a second
 * request.
 */
export function sendRequest(request: IncomingMessage, target: Duplex, head: string): void {
  target.write(head, 'latin1');
  const body = isChunked(request.rawHeaders) ? request.pipe(new ChunkedEncoder()) : request;
  body.pipe(target, { end: false });
}

/** Encodes a body in chunks (RFC 9112 7.1). */
class ChunkedEncoder extends Transform {
  override _transform(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.push(`${chunk.length.toString(16)}\r\n`);
    this.push(chunk);
    this.push('\r\n');
    done();
  }

  override _flush(done: () => void): void {
    this.push('0\r\n\r\n');
    done();
  }
}

function sendFailure(client: Socket, connection: UpstreamConnection): void {
  const outcome = connection.outcome === 'ok' ? 'connection_failed' : connection.outcome;
  connection.close(outcome);
  client.end(failureText(outcome));
}

/** The gateway's own response where there is none of the target. */
export function failureText(outcome: keyof typeof GATEWAY_STATUS): string {
  const body = `gateway: ${outcome}`;
  const headers = [
    `HTTP/1.1 ${GATEWAY_STATUS[outcome]} Gateway`,
    `${GATEWAY_OUTCOME_HEADER}: ${outcome}`,
    'content-type: text/plain',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
