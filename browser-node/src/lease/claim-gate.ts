import type { NodeResource } from '@adsweep/shared/lease/messages.ts';

/** Why a node asks for no work for the moment. `drain`: it is to finish what it has; a resource: too much of it is in use. */
export type HoldReason = 'drain' | NodeResource;

/** Whether a node may ask for work: it may while nothing holds it, and never again once the gate is closed. */
export class ClaimGate {
  readonly #reasons = new Set<HoldReason>();
  #isShut = false;
  #polls = new AbortController();
  #opened = Promise.withResolvers<void>();

  /** Aborted while the node may not ask: it ends a request that is under way. Another one each time the gate opens. */
  get signal(): AbortSignal {
    return this.#polls.signal;
  }

  get isShut(): boolean {
    return this.#isShut;
  }

  isHeldBy(reason: HoldReason): boolean {
    return this.#reasons.has(reason);
  }

  hold(reason: HoldReason): void {
    if (this.#reasons.size === 0 && !this.#isShut) this.#opened = Promise.withResolvers();
    this.#reasons.add(reason);
    this.#polls.abort(new Error(`the node takes no work: ${reason}`));
  }

  release(reason: HoldReason): void {
    if (!this.#reasons.delete(reason) || this.#reasons.size > 0 || this.#isShut) return;
    this.#polls = new AbortController();
    this.#opened.resolve();
  }

  close(): void {
    this.#isShut = true;
    this.#polls.abort(new Error('the node stops'));
    this.#opened.resolve();
  }

  /** Resolves when the node may ask for work, or never may again. */
  async untilOpen(): Promise<void> {
    if (this.#reasons.size > 0) await this.#opened.promise;
  }
}
