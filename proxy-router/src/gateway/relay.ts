import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { RELAYED_HEADER } from '../tickets/ticket.ts';
import { failureText, sendRequest } from './forward-request.ts';
import { headersOf, isChunked, requestHead } from './forwarded-headers.ts';

/** Forwards a plain http request to the gateway of another replica, and its response back, byte for byte. */
export function forwardRequestToReplica(request: IncomingMessage, gateway: string, idleMs: number): void {
  const { socket: client } = request;
  const peer = connectToReplica(client, gateway, idleMs, () => {
    sendRequest(request, peer, relayedHead(request, ['connection', 'proxy-connection'], [['Connection', 'close']]));
    peer.pipe(client);
  });
}

/** Forwards a CONNECT or an upgrade request to the gateway of another replica, and then all bytes in both directions. */
export function forwardStreamToReplica(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  gateway: string,
  idleMs: number,
): void {
  const peer = connectToReplica(client, gateway, idleMs, () => {
    peer.write(relayedHead(request, [], []), 'latin1');
    peer.write(head);
    client.pipe(peer).pipe(client);
  });
}

/** The head of a request as it came, without `dropped` headers and with `added` ones. */
function relayedHead(
  { method, url, rawHeaders }: IncomingMessage,
  dropped: string[],
  added: [string, string][],
): string {
  const leftOut = [...dropped, ...(isChunked(rawHeaders) ? ['content-length'] : [])];
  const kept = headersOf(rawHeaders).filter(([name]) => !leftOut.includes(name.toLowerCase()));
  return requestHead(`${method} ${url} HTTP/1.1`, [...kept, ...added, [RELAYED_HEADER, '1']]);
}

function connectToReplica(client: Socket, gateway: string, idleMs: number, onConnected: () => void): Socket {
  const { hostname, port } = new URL(gateway);
  let isConnected = false;
  const peer = connect({ host: hostname, port: Number(port) }, () => {
    isConnected = true;
    onConnected();
  });
  peer.setTimeout(2 * idleMs, () => peer.destroy());
  peer.on('error', () => {
    if (isConnected) client.destroy();
    else client.end(failureText('upstream_failed'));
  });
  peer.on('close', () => client.destroySoon());
  client.on('close', () => peer.destroy());
  return peer;
}
