import type { Socket } from 'node:net';
import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';
import { type DialDependencies, dialTarget } from '../exits/dial-target.ts';
import type { ExitHealth } from '../exits/exit-health.ts';
import type { RouterMetrics } from '../metrics.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Destination } from '../providers/provider.ts';
import type { ActiveTicket } from '../tickets/active-ticket.ts';
import { UpstreamConnection } from './upstream-connection.ts';

export type UpstreamDependencies = DialDependencies & {
  health: ExitHealth;
  metrics: RouterMetrics;
  connectTimeoutMs: number;
  idleMs: number;
};

/**
 * Connects to the destination through the ticket's exit and records the connection with the ticket. Gives up when `client` closes.
 * Throws ConnectionFailure.
 */
export async function connectUpstream(
  dependencies: UpstreamDependencies,
  ticket: ActiveTicket,
  destination: Destination,
  client: Socket,
): Promise<UpstreamConnection> {
  ticket.connectBegan();
  try {
    if (ticket.isSpent) throw new ConnectionFailure('too_large', 'the ticket has no bytes left');
    const socket = await dialInTime(dependencies, ticket.claims.exit, destination, client);
    dependencies.health.succeeded(ticket.claims.exit);
    if (ticket.isClosed) {
      socket.destroy();
      throw new ConnectionFailure('connection_failed', 'the ticket ended while its target was being dialled');
    }
    return track(dependencies, ticket, destination, socket);
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error;
    recordFailure(dependencies, ticket, destination, error.outcome);
    throw error;
  } finally {
    ticket.connectEnded();
  }
}

async function dialInTime(
  dependencies: UpstreamDependencies,
  exitId: string,
  destination: Destination,
  client: Socket,
): Promise<Socket> {
  const abort = new AbortController();
  const onTimeout = () => abort.abort(new ConnectionFailure('timeout', 'the target did not answer in time'));
  const onClientClose = () => abort.abort(new ConnectionFailure('connection_failed', 'the client closed'));
  const timer = setTimeout(onTimeout, dependencies.connectTimeoutMs);
  client.once('close', onClientClose);
  try {
    const socket = await dialTarget(dependencies, exitId, destination, abort.signal);
    if (!client.destroyed) return socket;
    socket.destroy();
    throw new ConnectionFailure('connection_failed', 'the client closed');
  } finally {
    clearTimeout(timer);
    client.off('close', onClientClose);
  }
}

function recordFailure(
  { health, metrics }: UpstreamDependencies,
  ticket: ActiveTicket,
  destination: Destination,
  outcome: GatewayOutcome,
): void {
  if (outcome === 'upstream_failed') health.failed(ticket.claims.exit, Date.now());
  ticket.recordConnection(destination, null, outcome);
  metrics.connections.inc({ outcome });
}

/** Has the bytes and the end of an open connection counted. */
function track(
  { metrics, idleMs }: UpstreamDependencies,
  ticket: ActiveTicket,
  destination: Destination,
  socket: Socket,
): UpstreamConnection {
  const connection: UpstreamConnection = new UpstreamConnection(socket, idleMs, {
    onBytes(sent, received) {
      metrics.bytes.inc({ direction: 'sent' }, sent);
      metrics.bytes.inc({ direction: 'received' }, received);
      ticket.addBytes(sent, received);
    },
    onClose(outcome) {
      ticket.streamClosed(connection);
      if (outcome !== 'ok') ticket.recordOutcome(destination, outcome);
      metrics.connections.inc({ outcome });
      metrics.openConnections.dec();
    },
  });
  metrics.openConnections.inc();
  ticket.recordConnection(destination, socket.remoteAddress ?? null, 'ok');
  ticket.streamOpened(connection);
  return connection;
}
