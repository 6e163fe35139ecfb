import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { connectTo } from '../providers/connect-to.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { ExitSession } from '../providers/exit.ts';
import type { Connected, Destination } from '../providers/provider.ts';
import type { ExitSource } from './exit-source.ts';
import { mappedAddress } from './host-mapping.ts';

export type DialDependencies = { source: ExitSource; policy: AddressPolicy };

/**
 * Connects to a destination through an exit, if the address policy allows its host. For providers that resolve names
 * here, the host mapping of the exits file takes precedence. `signal` aborts with the failure to throw. Throws
 * ConnectionFailure.
 */
export async function dialTarget(
  { source, policy }: DialDependencies,
  use: ExitSession,
  destination: Destination,
  signal: AbortSignal,
): Promise<Connected> {
  const provider = source.provider(use.exit.provider);
  if (!provider) throw new ConnectionFailure('upstream_failed', 'the provider of the exit is no longer listed');
  const mapped = provider.resolvesNames ? mappedAddress(source.hosts, destination) : null;
  if (mapped) {
    const socket = await connectTo([mapped.host], mapped.port, signal);
    return { socket, address: socket.remoteAddress ?? null };
  }
  if (!policy.allowsHost(asUrlHost(destination.host)))
    throw new ConnectionFailure('private_address', 'scans may not reach this host');
  return provider.dial(use, destination, signal);
}

const asUrlHost = (host: string) => (host.includes(':') ? `[${host}]` : host);
