import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import { requestTunnel } from './connect-method.ts';
import { once } from './connect-to.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Connected, Destination } from './provider.ts';
import { requestSocksTunnel } from './socks-tunnel.ts';
import { TunnelSocket } from './tunnel-socket.ts';
import { basicCredentials, type Upstream } from './upstream.ts';
import { type RefusalTexts, upstreamRefusal } from './upstream-refusal.ts';

/**
 * Connects to the destination through an upstream proxy, which gets the name as it is and resolves it. The upstream itself is the
 * operator's choice and may have a private address. Every way of the upstream to fail is `upstream_failed` unless it says more;
 * `signal` aborts it, and a time limit that ends it is the upstream's failure. Throws ConnectionFailure.
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
    socket = await reach(upstream, signal);
    await openTunnel(socket, upstream, destination, texts);
    return { socket, address: null };
  } catch (error) {
    socket?.destroy();
    throw signal.aborted ? asUpstreamFailure(signal.reason) : error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function reach({ protocol, host, port }: Upstream, signal: AbortSignal): Promise<Socket> {
  const plain = new TunnelSocket(signal).connect({ host, port, autoSelectFamily: true });
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
  if (refusal) throw upstreamRefusal(refusal, texts);
}

/** Connecting took too long: with an upstream in between, that is where it hangs. */
function asUpstreamFailure(reason: unknown): unknown {
  if (!(reason instanceof ConnectionFailure) || reason.outcome !== 'timeout') return reason;
  return new ConnectionFailure('upstream_failed', 'the upstream did not connect in time', { cause: reason });
}
