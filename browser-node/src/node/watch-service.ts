import { setTimeout as pause } from 'node:timers/promises';
import { NODE_SERVICES, type NodeReport, type NodeService } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { type Backoff, backoffMs } from '@adsweep/shared/service/retry.ts';
import type { ClaimGate } from '../lease/claim-gate.ts';

const BACKOFF: Backoff = { minMs: 500, maxMs: 10_000 };
/** How often an idle node tries a service. */
const IDLE_TRY_MS = 15_000;

/**
 * A service that every capture needs: its name in the log, why no work is taken without it, and a try that rejects
 * while it cannot be used.
 */
export type NeededService = { name: string; reason: NodeService; connect: () => Promise<void> };

/**
 * What a node reports of the services that it waits for. The field is left out while there are none: a control plane of
 * an earlier version refuses it.
 */
export function waitsFor(gate: Pick<ClaimGate, 'isHeldBy'>): Pick<NodeReport, 'waits_for'> {
  const waits_for = NODE_SERVICES.filter((service) => gate.isHeldBy(service));
  return waits_for.length > 0 ? { waits_for } : {};
}

/** Takes no more work while a needed service is gone, and tries it until it is back. */
export class ServiceWatch {
  readonly #service: NeededService;
  readonly #gate: Pick<ClaimGate, 'hold' | 'release'>;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #isGone = false;
  #trying: Promise<void> | null = null;

  constructor(service: NeededService, gate: Pick<ClaimGate, 'hold' | 'release'>, logger: Logger) {
    this.#service = service;
    this.#gate = gate;
    this.#logger = logger;
  }

  /**
   * To be called when the service may be gone: tries it, once for all who ask meanwhile, and returns whether it is.
   * Never rejects.
   */
  async doubt(): Promise<boolean> {
    if (this.#isGone) return true;
    this.#trying ??= this.#service
      .connect()
      .catch(() => this.lost())
      .finally(() => {
        this.#trying = null;
      });
    await this.#trying;
    return this.#isGone;
  }

  /**
   * Tries the service now and then while the node is idle: no job shows it then that the service is gone, and its
   * reports would say that it works.
   */
  watchWhileIdle(isIdle: () => boolean, everyMs = IDLE_TRY_MS): void {
    const timer = setInterval(() => void (isIdle() && this.doubt()), everyMs);
    this.#stopped.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** To be called when the service is gone. */
  lost(): void {
    if (this.#isGone || this.#stopped.signal.aborted) return;
    this.#isGone = true;
    this.#gate.hold(this.#service.reason);
    this.#logger.warn(`${this.#service.name} is gone: the node takes no work until it is back`);
    void this.#untilBack();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #untilBack(): Promise<void> {
    const { signal } = this.#stopped;
    const { name, reason, connect } = this.#service;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await connect();
        this.#isGone = false;
        this.#gate.release(reason);
        this.#logger.info(`${name} is back: the node takes work again`);
        return;
      } catch (cause) {
        if (failures === 0) this.#logger.warn({ cause }, `${name} cannot be used`);
        await pause(backoffMs(BACKOFF, failures), undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
