import http, { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { pipe } from './pipe.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Forwards one plain http request to the target of `url`, and the answer back. `connection` is for this request alone. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  connection: UpstreamConnection,
): void {
  const outgoing = send(request, url, connection, undefined);
  // The parser of the answer begins to read in the next tick; counting must not make the bytes flow before that.
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
 * Forwards a request to change protocols (RFC 9110 7.8), such as a WebSocket without TLS. The answer of a target that declines is
 * forwarded like any other.
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
    // The client is a socket: 'upgrade' is typed for servers over any stream.
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
    // A scan sees what a browser would see, faulty answers included.
    insecureHTTPParser: true,
  });
}

function sendAnswer(incoming: IncomingMessage, response: ServerResponse, connection: UpstreamConnection): void {
  const { statusCode = 0, statusMessage, rawHeaders } = incoming;
  if (statusCode < 200 || statusCode > 999)
    return void connection.socket.destroy(new Error('the answer has no valid status'));
  response.writeHead(statusCode, statusMessage?.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' '), responseHeaders(rawHeaders));
  // An answer that is cut off is cut off for the client too; what closes the response closes the connection.
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
