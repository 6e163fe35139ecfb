import type { Socket } from 'node:net';
import type { GatewayOutcome } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import type { ExitSource } from '../catalogue/exit-source.ts';
import type { ExitHealth } from '../exits/exit-health.ts';
import type { RouterMetrics } from '../metrics.ts';
import { connectTo } from '../providers/connect-to.ts';
import type { Destination, Provider } from '../providers/provider.ts';
import type { TicketAccount } from '../tickets/ticket-account.ts';
import type { TicketAccounts } from '../tickets/ticket-accounts.ts';
import { GatewayFailure } from './gateway-failure.ts';
import { mappedAddress } from './mapped-address.ts';
import { Passage } from './passage.ts';

/** What opening passages needs. */
export type PassageParts = {
  source: ExitSource;
  providers: Record<string, Provider>;
  addresses: AddressPolicy;
  health: ExitHealth;
  accounts: TicketAccounts;
  metrics: RouterMetrics;
  connectTimeoutMs: number;
  idleMs: number;
};

/**
 * A connection to the destination by the ticket's exit, on the ticket's account. Ends early when `client` goes away.
 * Throws GatewayFailure.
 */
export async function openPassage(
  parts: PassageParts,
  account: TicketAccount,
  destination: Destination,
  client: Socket,
): Promise<Passage> {
  const { exit } = account.ticket;
  account.connectBegan();
  try {
    if (account.isFull) throw new GatewayFailure('too_large', 'the ticket has carried all that it may');
    const socket = await dialInTime(parts, exit, destination, client);
    parts.health.worked(exit);
    if (account.isClosed) {
      socket.destroy();
      throw new GatewayFailure('connection_failed', 'the ticket ended while its target was dialled');
    }
    return carry(parts, account, destination, socket);
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    const { outcome } = error;
    if (outcome === 'upstream_failed') parts.health.failed(exit, Date.now());
    account.noteConnection(destination, null, outcome);
    parts.metrics.connections.inc({ outcome });
    throw error;
  } finally {
    account.connectEnded();
  }
}

async function dialInTime(
  parts: PassageParts,
  exitId: string,
  destination: Destination,
  client: Socket,
): Promise<Socket> {
  const abort = new AbortController();
  const late = () => abort.abort(new GatewayFailure('timeout', 'the target did not answer in time'));
  const gone = () => abort.abort(new GatewayFailure('connection_failed', 'the client went away'));
  const timer = setTimeout(late, parts.connectTimeoutMs);
  client.once('close', gone);
  try {
    const socket = await dial(parts, exitId, destination, abort.signal);
    if (!client.destroyed) return socket;
    socket.destroy();
    throw new GatewayFailure('connection_failed', 'the client went away');
  } finally {
    clearTimeout(timer);
    client.off('close', gone);
  }
}

/** The hosts of the exits file come before the guard, the guard before any exit. */
async function dial(
  { source, providers, addresses }: PassageParts,
  exitId: string,
  destination: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const mapped = mappedAddress(source.file.hosts, destination);
  if (mapped) return connectTo([mapped.host], mapped.port, signal);
  if (!addresses.allowsHost(asUrlHost(destination.host)))
    throw new GatewayFailure('private_address', 'scans may not reach this host');
  const exit = source.exit(exitId);
  const provider = exit && providers[exit.provider];
  if (!provider) throw new GatewayFailure('upstream_failed', 'the exit is gone');
  return provider.dial(exit, destination, signal);
}

const asUrlHost = (host: string) => (host.includes(':') ? `[${host}]` : host);

function carry(parts: PassageParts, account: TicketAccount, destination: Destination, socket: Socket): Passage {
  const { metrics } = parts;
  const passage: Passage = new Passage(socket, parts.idleMs, {
    moved(sent, received) {
      metrics.bytes.inc({ direction: 'sent' }, sent);
      metrics.bytes.inc({ direction: 'received' }, received);
      account.add(sent, received);
    },
    ended(outcome: GatewayOutcome) {
      account.closed(passage);
      if (outcome !== 'ok') account.noteOutcome(destination, outcome);
      metrics.connections.inc({ outcome });
      metrics.openConnections.dec();
    },
  });
  metrics.openConnections.inc();
  account.noteConnection(destination, socket.remoteAddress ?? null, 'ok');
  account.opened(passage);
  return passage;
}
