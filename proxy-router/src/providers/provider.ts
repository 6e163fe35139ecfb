import type { Socket } from 'node:net';
import type { ListedExit } from '../catalogue/exits-file.ts';

/** Where a request wants to go; `host` in its canonical spelling (see `canonicalHost`), judged public by that alone. */
export type Destination = { host: string; port: number };

/** Who sells exits. */
export type Provider = {
  /** The exits that can be wished, given those the file lists for this provider. */
  catalogue(listed: ListedExit[]): ListedExit[];
  /**
   * A connection to the destination that leaves by the exit. Throws GatewayFailure: `upstream_failed` when the exit is to blame. Whoever
   * resolves the name checks each address and dials what was checked. `signal` aborts with the failure to throw.
   */
  dial(exit: ListedExit, destination: Destination, signal: AbortSignal): Promise<Socket>;
};
