import type { Socket } from 'node:net';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { connectTo } from '../providers/connect-to.ts';
import { ConnectionFailure } from '../providers/connection-failure.ts';
import type { Destination, Provider } from '../providers/provider.ts';
import type { ExitSource } from './exit-source.ts';
import { mappedAddress } from './host-mapping.ts';

export type DialDependencies = { source: ExitSource; providers: Record<string, Provider>; policy: AddressPolicy };

/**
 * Connects to a destination: at the address that the exits file maps it to, or else, where the address policy allows it, through the
 * exit's provider. `signal` aborts with the failure to throw. Throws ConnectionFailure.
 */
export async function dialTarget(
  { source, providers, policy }: DialDependencies,
  exitId: string,
  destination: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const mapped = mappedAddress(source.file.hosts, destination);
  if (mapped) return connectTo([mapped.host], mapped.port, signal);
  if (!policy.allowsHost(asUrlHost(destination.host)))
    throw new ConnectionFailure('private_address', 'scans may not reach this host');
  const exit = source.exit(exitId);
  const provider = exit && providers[exit.provider];
  if (!provider) throw new ConnectionFailure('upstream_failed', 'the exit is no longer listed');
  return provider.dial(exit, destination, signal);
}

const asUrlHost = (host: string) => (host.includes(':') ? `[${host}]` : host);
