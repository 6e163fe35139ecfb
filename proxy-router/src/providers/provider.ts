import type { Socket } from 'node:net';
import type { ListedExit } from './listed-exit.ts';

/** The target of a request; `host` in its canonical spelling (see `canonicalHost`), already allowed by the address policy as written. */
export type Destination = { host: string; port: number };

/** A vendor of exits. */
export type Provider = {
  /** The exits it offers, given those that the exits file lists for it. */
  catalogue(listed: ListedExit[]): ListedExit[];
  /**
   * Connects to the destination through the exit. A provider that resolves the name checks every address and dials only what it has
   * checked. `signal` aborts with the failure to throw. Throws ConnectionFailure: `upstream_failed` when the exit is at fault.
   */
  dial(exit: ListedExit, destination: Destination, signal: AbortSignal): Promise<Socket>;
};
