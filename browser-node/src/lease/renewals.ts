import { Worker } from 'node:worker_threads';
import { type Lease, RENEW_EVERY_MS, type Renewed } from '@adsweep/shared/lease/messages.ts';

/** What the thread is told when it starts. */
export type RenewThreadSettings = { nodeApiUrl: string; everyMs: number };
/** A lease to renew until `untilMs` (Unix time in milliseconds), when whoever holds it must be done. */
export type Hold = { lease: Lease; untilMs: number };
/** Another end for a lease that is held. */
export type Extension = { extend: string; untilMs: number };
type Ended = { leaseId: string; outcome: Renewed['outcome'] };

/** Renews the leases that are held, and says when one is no longer ours. */
export class Renewals {
  readonly #thread: Worker;
  readonly #ended = new Map<string, (outcome: 'lost' | 'cancelled') => void>();

  /** A failure of the thread is not caught: a node that cannot renew must not go on. */
  constructor(nodeApiUrl: string, everyMs = RENEW_EVERY_MS) {
    const workerData: RenewThreadSettings = { nodeApiUrl, everyMs };
    this.#thread = new Worker(new URL('./renew-thread.ts', import.meta.url), { workerData });
    this.#thread.on('message', ({ leaseId, outcome }: Ended) => {
      if (outcome !== 'renewed') this.#ended.get(leaseId)?.(outcome);
    });
  }

  /** Renews from now on; `ended` is called once when the control plane says that the lease is over. Returns what lets go of it. */
  hold(lease: Lease, untilMs: number, ended: (outcome: 'lost' | 'cancelled') => void): () => void {
    this.#ended.set(lease.lease_id, ended);
    this.#thread.postMessage({ lease, untilMs } satisfies Hold);
    return () => {
      this.#ended.delete(lease.lease_id);
      this.#thread.postMessage({ release: lease.lease_id });
    };
  }

  /** Renews a lease that is held until another time. */
  extend({ lease_id }: Lease, untilMs: number): void {
    this.#thread.postMessage({ extend: lease_id, untilMs } satisfies Extension);
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
