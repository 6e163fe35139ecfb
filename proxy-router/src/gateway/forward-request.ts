import http, { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import { pipe } from './upstream-connection.ts';

/** Forwards one plain http request to the target of `url`, and the response back. `connection` serves this request only. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  connection: UpstreamConnection,
): void {
  const outgoing = send(request, url, connection, undefined);
  // Node.js attaches the response parser in the next tick; a 'data' listener before that would lose bytes.
  process.nextTick(() => {
    connection.countFrom(connection.socket, request);
    connection.socket.resume();
  });
  outgoing.on('response', (incoming) => sendAnswer(incoming, response, connection));
  outgoing.on('error', () => sendFailure(response, connection));
  response.on('close', () => connection.socket.destroy());
  request.pipe(outgoing);
}

/**
 * Forwards an upgrade request (RFC 9110 7.8), such as a WebSocket without TLS. If the target declines, its response is forwarded like
 * any other.
 */
export function forwardUpgrade(
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  url: URL,
  connection: UpstreamConnection,
): void {
  const response = new ServerResponse(request);
  const outgoing = send(request, url, connection, request.headers.upgrade);
  process.nextTick(() => connection.socket.resume());
  const useResponse = () => {
    response.shouldKeepAlive = false;
    // The client is a socket; the type of 'upgrade' allows any stream.
    response.assignSocket(client as Parameters<ServerResponse['assignSocket']>[0]);
    response.on('finish', () => client.end());
  };
  outgoing.on('upgrade', (incoming, target, targetHead) => {
    client.write(headOf(incoming));
    if (targetHead.length > 0) target.unshift(targetHead);
    if (head.length > 0) client.unshift(head);
    pipe(client, connection);
  });
  outgoing.on('response', (incoming) => {
    useResponse();
    sendAnswer(incoming, response, connection);
  });
  outgoing.on('error', () => {
    useResponse();
    sendFailure(response, connection);
  });
  client.on('close', () => connection.socket.destroy());
  outgoing.end();
}

function send(
  request: IncomingMessage,
  url: URL,
  connection: UpstreamConnection,
  upgrade: string | undefined,
): ClientRequest {
  return http.request({
    method: request.method,
    path: url.pathname + url.search,
    headers: requestHeaders(request.rawHeaders, url.host, upgrade),
    createConnection: () => connection.socket,
    // A scan must see what a browser would see, invalid responses included.
    insecureHTTPParser: true,
  });
}

function sendAnswer(incoming: IncomingMessage, response: ServerResponse, connection: UpstreamConnection): void {
  const { statusCode = 0, statusMessage, rawHeaders } = incoming;
  if (statusCode < 200 || statusCode > 999)
    return void connection.socket.destroy(new Error('the answer has no valid status'));
  response.writeHead(statusCode, statusMessage?.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' '), responseHeaders(rawHeaders));
  // A truncated response is truncated for the client too; closing the response closes the connection.
  incoming.on('error', () => response.destroy());
  incoming.pipe(response);
}

function sendFailure(response: ServerResponse, connection: UpstreamConnection): void {
  if (response.headersSent) return void response.destroy();
  const outcome = connection.outcome === 'ok' ? 'connection_failed' : connection.outcome;
  connection.close(outcome);
  response.writeHead(GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome, 'content-type': 'text/plain' });
  response.end(`gateway: ${outcome}`);
}

function headOf({ statusCode, statusMessage, rawHeaders, headers }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`, 'Connection: Upgrade', `Upgrade: ${headers.upgrade}`];
  const kept = responseHeaders(rawHeaders);
  for (let index = 0; index < kept.length; index += 2) lines.push(`${kept[index]}: ${kept[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
