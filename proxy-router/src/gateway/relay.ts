import http, { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { join } from './join.ts';
import type { Passage } from './passage.ts';

/** Carries one plain http request to the target of `url` and its answer back. Each has a connection of its own to the target. */
export function relay(request: IncomingMessage, response: ServerResponse, url: URL, passage: Passage): void {
  const outgoing = send(request, url, passage, undefined);
  // The parser of the answer begins to read in the next tick; counting must not make the bytes flow before that.
  process.nextTick(() => passage.countFrom(passage.socket, request));
  outgoing.on('response', (incoming) => answer(incoming, response, passage));
  outgoing.on('error', () => fail(response, passage));
  response.on('close', () => passage.socket.destroy());
  request.pipe(outgoing);
}

/** Carries a request to change protocols (RFC 9110 7.8), such as a WebSocket without TLS. A target that declines is relayed. */
export function relayUpgrade(request: IncomingMessage, client: Duplex, head: Buffer, url: URL, passage: Passage): void {
  const response = new ServerResponse(request);
  const outgoing = send(request, url, passage, request.headers.upgrade);
  const decline = () => {
    response.shouldKeepAlive = false;
    // The client is a socket: 'upgrade' is typed for servers over any stream.
    response.assignSocket(client as Parameters<ServerResponse['assignSocket']>[0]);
    response.on('finish', () => client.end());
  };
  outgoing.on('upgrade', (incoming, target, targetHead) => {
    client.write(headOf(incoming));
    if (targetHead.length > 0) target.unshift(targetHead);
    if (head.length > 0) client.unshift(head);
    join(client, passage);
  });
  outgoing.on('response', (incoming) => {
    decline();
    answer(incoming, response, passage);
  });
  outgoing.on('error', () => {
    decline();
    fail(response, passage);
  });
  client.on('close', () => passage.socket.destroy());
  outgoing.end();
}

function send(request: IncomingMessage, url: URL, passage: Passage, upgrade: string | undefined): ClientRequest {
  return http.request({
    method: request.method,
    path: url.pathname + url.search,
    headers: requestHeaders(request.rawHeaders, url.host, upgrade),
    createConnection: () => passage.socket,
    // Pages are scanned as browsers take them, faulty answers included.
    insecureHTTPParser: true,
  });
}

function answer(incoming: IncomingMessage, response: ServerResponse, passage: Passage): void {
  const { statusCode = 0, statusMessage, rawHeaders } = incoming;
  if (statusCode < 200 || statusCode > 999) return void passage.socket.destroy(new Error('the answer has no status'));
  response.writeHead(statusCode, statusMessage?.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' '), responseHeaders(rawHeaders));
  // An answer that breaks off breaks off for the client too: pipeline destroys both.
  pipeline(incoming, response, () => passage.socket.destroy());
}

function fail(response: ServerResponse, passage: Passage): void {
  if (response.headersSent) return void response.destroy();
  const outcome = passage.outcome === 'ok' ? 'connection_failed' : passage.outcome;
  passage.end(outcome);
  response.writeHead(GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome, 'content-type': 'text/plain' });
  response.end(`gateway: ${outcome}`);
}

function headOf({ statusCode, statusMessage, rawHeaders, headers }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`, 'Connection: Upgrade', `Upgrade: ${headers.upgrade}`];
  const kept = responseHeaders(rawHeaders);
  for (let index = 0; index < kept.length; index += 2) lines.push(`${kept[index]}: ${kept[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
