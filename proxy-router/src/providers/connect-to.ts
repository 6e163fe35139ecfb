import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { ConnectionFailure } from './connection-failure.ts';

const OUTCOMES: Record<string, ConnectionFailure['outcome']> = {
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timeout',
};

/**
 * Connects to one of the addresses, tried in order with a head start for each (RFC 8305). Throws ConnectionFailure, or the signal's
 * reason when it aborts first.
 */
export function connectTo(addresses: string[], port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const given = addresses.map((address) => ({ address, family: isIP(address) }));
  // The name is a placeholder: Node.js asks only this lookup, which answers with the addresses that were passed in.
  const lookup: LookupFunction = (_name, _options, done) => done(null, given);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: 'target.invalid', port, lookup, autoSelectFamily: true, signal });
    const fail = (error: NodeJS.ErrnoException) => reject(signal.aborted ? signal.reason : asFailure(error));
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

function asFailure(error: NodeJS.ErrnoException): ConnectionFailure {
  return new ConnectionFailure(
    OUTCOMES[error.code ?? ''] ?? 'connection_failed',
    'the target cannot be reached',
    error,
  );
}
