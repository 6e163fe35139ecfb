import type { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { HEARTBEAT_EVERY_MS, type NodeReport, type Registered } from '@adsweep/shared/lease/messages.ts';
import { coalesce } from '@adsweep/shared/service/coalesce.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { LeaseLoop } from '../lease/lease-loop.ts';
import type { NodeMetrics } from '../metrics.ts';

/** Makes the node's report, and handles the response. */
export type Reporting = { report: () => NodeReport; answered: (answer: Registered) => void };

/** Registers the node and reports its state every five seconds, also while the control plane is unavailable. */
export class Heartbeat {
  readonly #api: Pick<LeaseClient, 'report'>;
  readonly #nodeId: string;
  readonly #reporting: Reporting;
  readonly #metrics: NodeMetrics;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | null = null;
  #reachable: boolean | null = null;

  constructor(
    api: Pick<LeaseClient, 'report'>,
    nodeId: string,
    reporting: Reporting,
    metrics: NodeMetrics,
    logger: Logger,
  ) {
    this.#api = api;
    this.#nodeId = nodeId;
    this.#reporting = reporting;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Sends the first report and waits until it has succeeded or failed. */
  async start(everyMs = HEARTBEAT_EVERY_MS): Promise<void> {
    this.#timer ??= setInterval(() => void this.beat(), everyMs);
    await this.beat();
  }

  /**
   * Reports as soon as the report under way is answered: before its first answer a node would register twice, and an
   * older state could arrive after a newer one. Never throws; the change between reachable and not is logged once.
   */
  readonly beat = coalesce(() => this.#beat());

  async #beat(): Promise<void> {
    try {
      const answer = await this.#api.report(this.#nodeId, this.#reporting.report());
      if (this.#reachable === false) this.#logger.info('the control plane is back');
      this.#setReachable(true);
      this.#reporting.answered(answer);
    } catch (cause) {
      if (this.#reachable !== false) this.#logger.warn({ cause }, 'the control plane cannot be reached');
      this.#setReachable(false);
    }
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  #setReachable(reachable: boolean): void {
    this.#reachable = reachable;
    this.#metrics.controlPlaneReachable.set(reachable ? 1 : 0);
  }
}

/**
 * Handles the answer to a heartbeat or to a request for work: the node drains while the operator's drain is active, and
 * takes work again after that. A drained node keeps sending heartbeats until it is stopped.
 */
export function drainOnRequest(
  loop: Pick<LeaseLoop, 'drain' | 'undrain'>,
  graceMs: number,
  logger: Logger,
): (answer: Pick<Registered, 'drain'>) => void {
  let isRequested = false;
  return ({ drain = false }) => {
    if (drain === isRequested) return;
    isRequested = drain;
    if (!drain) {
      logger.info('the operator ended the drain: the node takes work again');
      return loop.undrain();
    }
    logger.info({ grace_ms: graceMs }, 'the operator drains the node: it takes no more work');
    void loop.drain(graceMs);
  };
}
