import { isIP, type LookupFunction, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { ADDRESS_ATTEMPT_MS } from '@adsweep/shared/egress/checked-addresses.ts';
import { ConnectionFailure } from './connection-failure.ts';
import { TunnelSocket } from './tunnel-socket.ts';

const OUTCOMES: Record<string, ConnectionFailure['outcome']> = {
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timeout',
};

/** Options for a connection to a host with several addresses: they are tried one after another. */
export const EACH_ADDRESS = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
} satisfies Partial<TcpSocketConnectOpts>;

/**
 * Connects to the first of the addresses that accepts, tried in order. Throws ConnectionFailure, or the signal's
 * reason when it aborts first.
 */
export async function connectTo(addresses: string[], port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const given = addresses.map((address) => ({ address, family: isIP(address) }));
  // The name is a placeholder: Node.js calls only this lookup, which returns the given addresses.
  const lookup: LookupFunction = (_name, _options, done) => done(null, given);
  const socket = new TunnelSocket(signal).connect({ host: 'target.invalid', port, lookup, ...EACH_ADDRESS });
  return once(socket, 'connect', signal).catch((error: NodeJS.ErrnoException) => {
    throw signal.aborted ? signal.reason : asFailure(error);
  });
}

/**
 * Resolves with the socket when it emits `event`. Rejects with its error, or the signal's reason, if it closes before.
 */
export function once<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(signal.aborted ? signal.reason : error);
    const close = () => fail(new Error('the connection was closed'));
    socket.once('error', fail).once('close', close);
    socket.once(event, () => {
      socket.off('error', fail).off('close', close);
      resolve(socket);
    });
  });
}

function asFailure(cause: NodeJS.ErrnoException): ConnectionFailure {
  return new ConnectionFailure(OUTCOMES[cause.code ?? ''] ?? 'connection_failed', 'the target cannot be reached', {
    cause,
  });
}
