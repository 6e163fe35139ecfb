import { Worker } from 'node:worker_threads';
import { type Lease, RENEW_EVERY_MS, type Renewed } from '@adsweep/shared/lease/messages.ts';

/** The settings of the thread. */
export type RenewThreadSettings = { nodeApiUrl: string; everyMs: number };
/** A lease to renew for the next `forMs` milliseconds, until the latest time at which its work ends. */
export type Hold = { lease: Lease; forMs: number };
/** Another end, from now on, for a lease that is being renewed. */
export type Extension = { extend: string; forMs: number };
type Ended = { leaseId: string; outcome: Renewed['outcome'] };

/** Renews leases in a thread of its own, and reports when one is lost or cancelled. */
export class Renewals {
  readonly #thread: Worker;
  readonly #ended = new Map<string, (outcome: 'lost' | 'cancelled') => void>();

  /** An error of the thread is not caught: a node that cannot renew leases must end. */
  constructor(nodeApiUrl: string, everyMs = RENEW_EVERY_MS) {
    const workerData: RenewThreadSettings = { nodeApiUrl, everyMs };
    this.#thread = new Worker(new URL('./renew-thread.ts', import.meta.url), { workerData });
    this.#thread.on('message', ({ leaseId, outcome }: Ended) => {
      if (outcome !== 'renewed') this.#ended.get(leaseId)?.(outcome);
    });
  }

  /**
   * Renews from now on, for `forMs`; `ended` is called once when the control plane says that the lease is over. Returns
   * the function that stops renewing.
   */
  hold(lease: Lease, forMs: number, ended: (outcome: 'lost' | 'cancelled') => void): () => void {
    this.#ended.set(lease.lease_id, ended);
    this.#thread.postMessage({ lease, forMs } satisfies Hold);
    return () => {
      this.#ended.delete(lease.lease_id);
      this.#thread.postMessage({ release: lease.lease_id });
    };
  }

  /** Renews a lease for `forMs` from now on. */
  extend({ lease_id }: Lease, forMs: number): void {
    this.#thread.postMessage({ extend: lease_id, forMs } satisfies Extension);
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
