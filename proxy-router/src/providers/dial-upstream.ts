import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { withoutBrackets } from '@adsweep/shared/urls/public-host.ts';
import { SocksClient } from 'socks';
import { requestTunnel } from './connect-method.ts';
import { EACH_ADDRESS, once } from './connect-to.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Connected, Destination, Provider } from './provider.ts';
import { TunnelSocket } from './tunnel-socket.ts';
import { type RefusalTexts, upstreamRefusal } from './upstream-refusal.ts';

/** A third party's forward proxy: its address and our credentials, '' if it needs none. */
export type Upstream = {
  protocol: 'http' | 'https' | 'socks5';
  host: string;
  port: number;
  username: string;
  password: string;
};

const PORTS = { http: 80, https: 443, socks5: 1080 } as const;

/**
 * Reads `http://user:pass@host:port`, `https://...` or `socks5://...`; credentials percent-encoded where needed. null:
 * not such a URL.
 */
export function parseUpstream(text: string): Upstream | null {
  const url = URL.parse(text);
  const protocol = url?.protocol.slice(0, -1) as Upstream['protocol'];
  if (!url || !(protocol in PORTS) || url.hostname === '') return null;
  if (!/^\/?$/.test(url.pathname) || url.search || url.hash) return null;
  const host = withoutBrackets(url.hostname);
  const port = Number(url.port || PORTS[protocol]);
  try {
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { protocol, host, port, username, password };
  } catch {
    return null;
  }
}

/** The provider `list`: each exit has its own upstream proxy. */
export const listProvider: Provider = {
  resolvesNames: false,
  async dial({ exit }, destination, signal) {
    const upstream = parseUpstream(exit.upstream ?? '');
    if (!upstream) throw new ConnectionFailure('upstream_failed', 'the exit has no upstream');
    return dialUpstream(upstream, destination, signal);
  },
};

/**
 * Connects to the destination through an upstream proxy, which receives the host name and resolves it. The operator
 * chose the upstream, so it may have a private address. A failure of the upstream is `upstream_failed` unless its
 * response is more specific; so is a timeout of `signal`. One that was reached and then says nothing may be waiting for
 * the target: most wait longer than we do. Throws ConnectionFailure.
 */
export async function dialUpstream(
  upstream: Upstream,
  destination: Destination,
  signal: AbortSignal,
  texts: RefusalTexts = [],
): Promise<Connected> {
  signal.throwIfAborted();
  let socket: Socket | undefined;
  const abort = () => socket?.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    socket = await connectToUpstream(upstream, signal);
    await openTunnel(socket, upstream, destination, texts);
    return { socket, address: null };
  } catch (error) {
    socket?.destroy();
    throw signal.aborted ? asUpstreamFailure(signal.reason, socket !== undefined) : error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function connectToUpstream({ protocol, host, port }: Upstream, signal: AbortSignal): Promise<Socket> {
  const plain = new TunnelSocket(signal).connect({ host, port, ...EACH_ADDRESS });
  try {
    await once(plain, 'connect', signal);
    plain.setNoDelay(true);
    if (protocol !== 'https') return plain;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    return await once(tls.connect({ socket: plain, ...servername }), 'secureConnect', signal);
  } catch (cause) {
    plain.destroy();
    if (signal.aborted) throw signal.reason;
    throw new ConnectionFailure('upstream_failed', 'the upstream cannot be reached', { cause, isAccount: true });
  }
}

async function openTunnel(
  socket: Socket,
  upstream: Upstream,
  destination: Destination,
  texts: RefusalTexts,
): Promise<void> {
  if (upstream.protocol === 'socks5') return requestSocksTunnel(socket, destination, upstream);
  const refusal = await requestTunnel(socket, destination, basicCredentials(upstream));
  if (refusal) throw upstreamRefusal(refusal, texts, destination.host);
}

/**
 * A timeout while an upstream connects is the upstream's failure; it may be the target's if the upstream was reached
 * (`mayBeTargets`).
 */
function asUpstreamFailure(reason: unknown, mayBeTargets: boolean): unknown {
  if (!(reason instanceof ConnectionFailure) || reason.outcome !== 'timeout') return reason;
  return new ConnectionFailure('upstream_failed', 'the upstream did not connect in time', {
    cause: reason,
    mayBeTargets,
  });
}

/** The Basic credentials (RFC 7617), '' if there are none. */
const basicCredentials = ({ username, password }: Upstream): string =>
  username || password ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : '';

/**
 * At least as long as every connect timeout, which callers enforce. The library’s timer keeps the socket in memory
 * until then.
 */
const TIMEOUT_MS = 120_000;

/** Outcomes by the end of the library's error text (RFC 1928 6). */
const REPLIES: [pattern: RegExp, outcome: ConnectionFailure['outcome']][] = [
  [/Authentication failed|no accepted authentication type|NotAllowed$/i, 'account_refused'],
  [/(Network|Host)Unreachable$/, 'connection_failed'],
  [/ConnectionRefused$/, 'connection_refused'],
  [/TTLExpired$/, 'timeout'],
];

/**
 * Asks the SOCKS5 proxy at the other end of `socket` for a connection; the name is resolved there. Throws
 * ConnectionFailure.
 */
async function requestSocksTunnel(socket: Socket, destination: Destination, upstream: Upstream): Promise<void> {
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
      // What speaks no SOCKS, or refuses to let us sign in, does so whatever the target is.
      mayBeTargets: !/\binvalid\b|Authentication failed/i.test(text),
    });
  }
}
