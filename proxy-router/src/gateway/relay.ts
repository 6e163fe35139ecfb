import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { RELAYED_HEADER } from '../tickets/ticket.ts';

/** Forwards a plain http request unchanged to the gateway of another replica, and the response back. */
export function forwardRequestToReplica(request: IncomingMessage, response: ServerResponse, gateway: string): void {
  const { hostname, port } = new URL(gateway);
  const { method, url, rawHeaders } = request;
  const outgoing = http.request({
    host: hostname,
    port,
    method,
    path: url,
    headers: [...rawHeaders, RELAYED_HEADER, '1'],
    insecureHTTPParser: true,
  });
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, incoming.rawHeaders);
    pipeline(incoming, response, () => outgoing.destroy());
  });
  outgoing.on('error', () => {
    if (response.headersSent) return void response.destroy();
    const outcome = 'upstream_failed';
    response.writeHead(GATEWAY_STATUS[outcome], { [GATEWAY_OUTCOME_HEADER]: outcome }).end(`gateway: ${outcome}`);
  });
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
}

/** Forwards a CONNECT or an upgrade request to the gateway of another replica, and then all bytes in both directions. */
export function forwardStreamToReplica(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  gateway: string,
  idleMs: number,
): void {
  const { hostname, port } = new URL(gateway);
  const { method, url, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  lines.push(`${RELAYED_HEADER}: 1`);
  let isConnected = false;
  const peer = connect({ host: hostname, port: Number(port) }, () => {
    isConnected = true;
    peer.write(`${lines.join('\r\n')}\r\n\r\n`);
    peer.write(head);
    client.pipe(peer).pipe(client);
  });
  peer.setTimeout(2 * idleMs, () => peer.destroy());
  peer.on('error', () => {
    if (isConnected) return void client.destroy();
    const outcome = 'upstream_failed';
    client.end(`HTTP/1.1 ${GATEWAY_STATUS[outcome]} Gateway\r\n${GATEWAY_OUTCOME_HEADER}: ${outcome}\r\n\r\n`);
  });
  peer.on('close', () => client.destroySoon());
  client.on('close', () => peer.destroy());
}
