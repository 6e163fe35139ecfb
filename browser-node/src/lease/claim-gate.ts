import type { NodeResource, NodeService } from '@adsweep/shared/lease/messages.ts';

/**
 * Why a node acquires no leases for the moment. `drain`: it only finishes running work; `browser`: its browser cannot
 * be started, or its remote one is gone; `exits`: the proxy-router is; a resource: too much of it is in use.
 */
export type HoldReason = 'drain' | NodeService | NodeResource;

/** Whether a node may acquire leases: while no reason holds it, and never again once the gate is closed. */
export class ClaimGate {
  readonly #reasons = new Set<HoldReason>();
  #isClosed = false;
  #polls = new AbortController();
  #opened = Promise.withResolvers<void>();

  /**
   * Aborted while the node may not acquire leases, which also aborts a long poll. A new one each time the gate opens.
   */
  get signal(): AbortSignal {
    return this.#polls.signal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  isHeldBy(reason: HoldReason): boolean {
    return this.#reasons.has(reason);
  }

  hold(reason: HoldReason): void {
    if (this.#reasons.size === 0 && !this.#isClosed) this.#opened = Promise.withResolvers();
    this.#reasons.add(reason);
    this.#polls.abort(new Error(`the node takes no work: ${reason}`));
  }

  release(reason: HoldReason): void {
    if (!this.#reasons.delete(reason) || this.#reasons.size > 0 || this.#isClosed) return;
    this.#polls = new AbortController();
    this.#opened.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#polls.abort(new Error('the node stops'));
    this.#opened.resolve();
  }

  /** Resolves when the node may acquire leases, or when the gate is closed. */
  async untilOpen(): Promise<void> {
    if (this.#reasons.size > 0) await this.#opened.promise;
  }
}
