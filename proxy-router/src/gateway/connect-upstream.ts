import type { Socket } from 'node:net';
import { type BlameDependencies, blameExit } from '../exits/blame-exit.ts';
import { type DialDependencies, dialTarget } from '../exits/dial-target.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Exit, ExitSession } from '../providers/exit.ts';
import type { Connected, Destination } from '../providers/provider.ts';
import type { ActiveTicket } from '../tickets/active-ticket.ts';
import type { TicketRegistry } from '../tickets/ticket-registry.ts';
import { MeasuredBytes } from './measured-bytes.ts';
import { UpstreamConnection } from './upstream-connection.ts';

export type UpstreamDependencies = DialDependencies &
  BlameDependencies & {
    connectTimeoutMs: number;
    idleMs: number;
    /**
     * Limit of concurrent connections to targets per ticket; the tickets of an enrolled node have twice as many
     * together.
     */
    streamsMax: number;
    tickets: Pick<TicketRegistry, 'streamsOf'>;
  };

/**
 * SMTP and message submission: browsers load nothing from these (Fetch, 2.10 Port blocking), only a node that lies would
 * send mail.
 */
const MAIL_PORTS: ReadonlySet<number> = new Set([25, 465, 587]);

/**
 * Connects to the destination through the ticket's exit and records the connection with the ticket. Gives up when
 * `client` closes. Throws ConnectionFailure.
 */
export async function connectUpstream(
  dependencies: UpstreamDependencies,
  ticket: ActiveTicket,
  destination: Destination,
  client: Socket,
): Promise<UpstreamConnection> {
  const exit = dependencies.source.exit(ticket.claims.exit);
  ticket.connectBegan();
  try {
    if (ticket.isSpent) throw new ConnectionFailure('too_large', 'the ticket has no bytes left');
    if (ticket.streams > dependencies.streamsMax)
      throw new ConnectionFailure('connection_failed', 'the ticket has as many connections as it may');
    if (dependencies.tickets.streamsOf(ticket.holder) > 2 * dependencies.streamsMax)
      throw new ConnectionFailure('connection_failed', 'the node has as many connections as it may');
    if (ticket.claims.deny?.includes(destination.host))
      throw new ConnectionFailure('denied_host', 'the ticket denies this host');
    if (MAIL_PORTS.has(destination.port)) throw new ConnectionFailure('denied_host', 'no page is on a port of mail');
    if (!exit) throw new ConnectionFailure('upstream_failed', 'the exit is no longer listed');
    const use = { exit, session: ticket.claims.session };
    const connected = await dialInTime(dependencies, use, destination, client);
    dependencies.health.succeeded(exit, ticket.holder);
    if (ticket.isClosed) {
      connected.socket.destroy();
      throw new ConnectionFailure('connection_failed', 'the ticket ended while its target was being dialled');
    }
    return track(dependencies, ticket, exit, destination, connected);
  } catch (error) {
    if (!(error instanceof ConnectionFailure)) throw error;
    recordFailure(dependencies, ticket, exit, destination, error);
    throw error;
  } finally {
    ticket.connectEnded();
  }
}

async function dialInTime(
  dependencies: UpstreamDependencies,
  use: ExitSession,
  destination: Destination,
  client: Socket,
): Promise<Connected> {
  const abort = new AbortController();
  const onTimeout = () => abort.abort(new ConnectionFailure('timeout', 'the target did not answer in time'));
  const onClientClose = () => abort.abort(new ConnectionFailure('connection_failed', 'the client closed'));
  const timer = setTimeout(onTimeout, dependencies.connectTimeoutMs);
  client.once('close', onClientClose);
  try {
    const connected = await dialTarget(dependencies, use, destination, abort.signal);
    if (!client.destroyed) return connected;
    connected.socket.destroy();
    throw new ConnectionFailure('connection_failed', 'the client closed');
  } finally {
    clearTimeout(timer);
    client.off('close', onClientClose);
  }
}

function recordFailure(
  dependencies: UpstreamDependencies,
  ticket: ActiveTicket,
  exit: Exit | undefined,
  destination: Destination,
  failure: ConnectionFailure,
): void {
  const { outcome } = failure;
  const purpose = { scan: ticket.claims.scan, host: destination.host, node: ticket.holder };
  if (exit) blameExit(dependencies, exit, failure, purpose);
  ticket.recordConnection(destination, null, outcome);
  dependencies.metrics.connections.inc({ outcome });
}

/** Counts the bytes and the outcome of an open connection in the metrics and on its ticket. */
function track(
  { source, metrics, idleMs }: UpstreamDependencies,
  ticket: ActiveTicket,
  exit: Exit,
  destination: Destination,
  { socket, address }: Connected,
): UpstreamConnection {
  const measured = new MeasuredBytes(metrics, exit);
  // Without an upstream in between, it is the target that stalls.
  const isUpstream = source.provider(exit.provider)?.resolvesNames === false;
  const connection: UpstreamConnection = new UpstreamConnection(socket, idleMs, {
    onBytes(sent, received) {
      measured.add(sent, received);
      ticket.addBytes(sent, received);
    },
    onStall() {
      if (isUpstream) ticket.recordStall(destination);
    },
    onClose(outcome) {
      measured.flush();
      ticket.streamClosed(connection);
      if (outcome !== 'ok') ticket.recordOutcome(destination, outcome);
      metrics.connections.inc({ outcome });
      metrics.openConnections.dec();
    },
  });
  metrics.openConnections.inc();
  ticket.recordConnection(destination, address, 'ok');
  ticket.streamOpened(connection);
  return connection;
}
