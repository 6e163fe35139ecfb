import type { Socket } from 'node:net';
import type { ExitSession } from './exit.ts';

/**
 * The target of a request; `host` in its canonical spelling (see `canonicalHost`), already allowed by the address
 * policy as written.
 */
export type Destination = { host: string; port: number };

/** An open connection to a target. `address` is the target's, null if only the upstream knows it. */
export type Connected = { socket: Socket; address: string | null };

/** A way to connect through exits. */
export type Provider = {
  /**
   * Connects to the destination through the exit. A provider that resolves the name checks every address and dials only
   * what it has checked. `signal` aborts with the failure to throw. Throws ConnectionFailure: `upstream_failed` when
   * the exit is at fault.
   */
  dial(use: ExitSession, destination: Destination, signal: AbortSignal): Promise<Connected>;
  /** Whether the provider resolves names itself, so that `hosts` of the exits file apply to it. */
  resolvesNames: boolean;
};
