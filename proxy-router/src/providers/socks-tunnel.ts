import type { Socket } from 'node:net';
import { SocksClient } from 'socks';
import { ConnectionFailure } from './connection-failure.ts';
import type { Destination } from './provider.ts';
import type { Upstream } from './upstream.ts';

/** At least as long as every limit for connecting, which is kept outside. The library’s timer keeps the socket in memory until then. */
const TIMEOUT_MS = 120_000;

/** What the end of a refusal's text means (RFC 1928 6). */
const REPLIES: [pattern: RegExp, outcome: ConnectionFailure['outcome']][] = [
  [/Authentication failed|no accepted authentication type|NotAllowed$/i, 'account_refused'],
  [/(Network|Host)Unreachable$/, 'connection_failed'],
  [/ConnectionRefused$/, 'connection_refused'],
  [/TTLExpired$/, 'timeout'],
];

/** Asks the SOCKS5 proxy at the other end of `socket` for a connection; the name is resolved there. Throws ConnectionFailure. */
export async function requestSocksTunnel(socket: Socket, destination: Destination, upstream: Upstream): Promise<void> {
  const { host, port, username, password } = upstream;
  const credentials = username || password ? { userId: username, password } : {};
  try {
    await SocksClient.createConnection({
      proxy: { host, port, type: 5, ...credentials },
      command: 'connect',
      destination,
      existing_socket: socket,
      timeout: TIMEOUT_MS,
    });
  } catch (cause) {
    const text = (cause as Error).message;
    const outcome = REPLIES.find(([pattern]) => pattern.test(text))?.[1] ?? 'upstream_failed';
    throw new ConnectionFailure(outcome, `the upstream refused: ${text}`, {
      cause,
      isAccount: outcome === 'account_refused',
    });
  }
}
