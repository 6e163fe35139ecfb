import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';
import type { ClaimGate } from '../lease/claim-gate.ts';

const BACKOFF: Backoff = { minMs: 500, maxMs: 10_000 };

/** Takes no more work while the remote browser is gone, and connects again until it is back. */
export class RemoteWatch {
  readonly #connect: () => Promise<void>;
  readonly #gate: Pick<ClaimGate, 'hold' | 'release'>;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #isGone = false;

  /** `connect` rejects while the browser cannot be reached. */
  constructor(connect: () => Promise<void>, gate: Pick<ClaimGate, 'hold' | 'release'>, logger: Logger) {
    this.#connect = connect;
    this.#gate = gate;
    this.#logger = logger;
  }

  /** To be called when a connection was lost or failed. */
  lost(): void {
    if (this.#isGone || this.#stopped.signal.aborted) return;
    this.#isGone = true;
    this.#gate.hold('browser');
    this.#logger.warn('a connection to the remote browser was lost: the node takes no work until it is back');
    void this.#untilBack();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #untilBack(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.#connect();
        this.#isGone = false;
        this.#gate.release('browser');
        this.#logger.info('the remote browser is back: the node takes work again');
        return;
      } catch (cause) {
        if (failures === 0) this.#logger.warn({ cause }, 'the remote browser cannot be reached');
        await pause(backoffMs(BACKOFF, failures), undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
