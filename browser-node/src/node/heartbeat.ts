import type { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { HEARTBEAT_EVERY_MS, type NodeReport, type Registered } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { NodeMetrics } from '../metrics.ts';

/** What the node reports, and what to do with the answer. */
export type Reporting = { report: () => NodeReport; answered: (answer: Registered) => void };

/** Registers the node and reports its state every five seconds; while the control plane is unavailable, until it is back. */
export class Heartbeat {
  readonly #api: LeaseClient;
  readonly #nodeId: string;
  readonly #reporting: Reporting;
  readonly #metrics: NodeMetrics;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | null = null;
  #reachable: boolean | null = null;

  constructor(api: LeaseClient, nodeId: string, reporting: Reporting, metrics: NodeMetrics, logger: Logger) {
    this.#api = api;
    this.#nodeId = nodeId;
    this.#reporting = reporting;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Sends the first report and waits for it; whether it arrived does not matter. */
  async start(everyMs = HEARTBEAT_EVERY_MS): Promise<void> {
    this.#timer ??= setInterval(() => void this.beat(), everyMs);
    await this.beat();
  }

  /** Reports now. Never throws; the change between reachable and not is logged once. */
  async beat(): Promise<void> {
    try {
      const answer = await this.#api.report(this.#nodeId, this.#reporting.report());
      if (this.#reachable === false) this.#logger.info('the control plane is back');
      this.#noted(true);
      this.#reporting.answered(answer);
    } catch (cause) {
      if (this.#reachable !== false) this.#logger.warn({ cause }, 'the control plane cannot be reached');
      this.#noted(false);
    }
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  #noted(reachable: boolean): void {
    this.#reachable = reachable;
    this.#metrics.controlPlaneReachable.set(reachable ? 1 : 0);
  }
}
