import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { RELAYED_HEADER } from '../tickets/ticket.ts';
import { failureText, sendRequest } from './forward-request.ts';
import { headersOf, isChunked, requestHead } from './forwarded-headers.ts';

/**
 * How long a connection to another replica may take, and how long an open one may be without traffic, in milliseconds.
 */
export type RelayLimits = { connectTimeoutMs: number; idleMs: number };

/** Forwards a plain http request to the gateway of another replica, and its response back, byte for byte. */
export function forwardRequestToReplica(request: IncomingMessage, gateway: string, limits: RelayLimits): void {
  const { socket: client } = request;
  const peer = connectToReplica(client, gateway, limits, () => {
    sendRequest(request, peer, relayedHead(request, ['connection', 'proxy-connection'], [['Connection', 'close']]));
    peer.pipe(client);
  });
}

/**
 * Forwards a CONNECT or an upgrade request to the gateway of another replica, and then all bytes in both directions.
 */
export function forwardStreamToReplica(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  gateway: string,
  limits: RelayLimits,
): void {
  const peer = connectToReplica(client, gateway, limits, () => {
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

function connectToReplica(
  client: Socket,
  gateway: string,
  { connectTimeoutMs, idleMs }: RelayLimits,
  onConnected: () => void,
): Socket {
  const { hostname, port } = new URL(gateway);
  let isConnected = false;
  const peer = connect({ host: hostname, port: Number(port) }, () => {
    isConnected = true;
    // Twice as long as the replica's own limit, so that it can say that the target was silent.
    peer.setTimeout(2 * idleMs);
    onConnected();
  });
  peer.setTimeout(connectTimeoutMs).on('timeout', () => peer.destroy(new Error('the replica did not answer in time')));
  peer.on('error', () => {
    if (isConnected) client.destroy();
    else client.end(failureText('upstream_failed'));
  });
  peer.on('close', () => client.destroySoon());
  client.on('close', () => peer.destroy());
  return peer;
}
