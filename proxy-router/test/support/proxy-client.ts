import http, { type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';

export type Credentials = Pick<ExitTicket, 'server' | 'username' | 'password'>;

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };

export const proxyAuthorization = ({ username, password }: Credentials) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** One plain http request through the gateway, in absolute form. */
export function request(
  through: Credentials,
  url: string,
  options: { method?: string; headers?: http.OutgoingHttpHeaders; body?: string; agent?: http.Agent } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(through.server);
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      host: hostname,
      port,
      path: url,
      method: options.method ?? 'GET',
      agent: options.agent,
      headers: { 'Proxy-Authorization': proxyAuthorization(through), Host: new URL(url).host, ...options.headers },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      text(incoming).then(
        (body) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }),
        reject,
      );
    });
    outgoing.end(options.body);
  });
}

export type Tunnel = { status: number; headers: IncomingHttpHeaders; socket: Socket };

/** A tunnel through the gateway; `authority` goes out as it stands. The caller destroys the socket. */
export function openTunnel(through: Credentials, authority: string): Promise<Tunnel> {
  const { hostname, port } = new URL(through.server);
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      host: hostname,
      port,
      method: 'CONNECT',
      path: authority,
      headers: { 'Proxy-Authorization': proxyAuthorization(through) },
    });
    outgoing.on('error', reject);
    outgoing.on('connect', (incoming, socket: Socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, socket });
    });
    outgoing.end();
  });
}

/** The status of a CONNECT; the tunnel is not used. */
export async function tunnelStatus(through: Credentials, authority: string): Promise<number> {
  const { status, socket } = await openTunnel(through, authority);
  socket.destroy();
  return status;
}

/** One request over a tunnel, by hand. */
export async function requestOver(socket: Socket, host: string): Promise<string> {
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

/** Bytes sent as they stand, and all that comes back until the gateway closes. */
export async function sendRaw(through: Credentials, bytes: string): Promise<string> {
  const { hostname, port } = new URL(through.server);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}
