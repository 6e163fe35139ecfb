import { NODE_RESOURCES, type NodeResource } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ClaimGate } from '../lease/claim-gate.ts';
import { type LoadThresholds, overloadOf } from '../machine/overload.ts';
import type { ResourceUsage } from '../machine/resource-usage.ts';
import type { NodeMetrics } from '../metrics.ts';

const LOOK_EVERY_MS = 1_000;

export type LoadParts = {
  measure: () => ResourceUsage;
  thresholds: LoadThresholds;
  gate: Pick<ClaimGate, 'hold' | 'release'>;
  metrics: Pick<NodeMetrics, 'usedShare' | 'overloaded'>;
  logger: Logger;
};

/** Keeps a node from taking work while too much of its machine is in use. Running captures go on. Each change is logged once. */
export class LoadWatch {
  readonly #parts: LoadParts;
  #timer: NodeJS.Timeout | null = null;
  #overloaded: NodeResource[] = [];

  constructor(parts: LoadParts) {
    this.#parts = parts;
  }

  /** The resources that keep the node from taking work at present. */
  get overloaded(): NodeResource[] {
    return this.#overloaded;
  }

  start(everyMs = LOOK_EVERY_MS): void {
    this.look();
    this.#timer ??= setInterval(() => this.look(), everyMs);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  look(): void {
    const { measure, thresholds, metrics } = this.#parts;
    const usage = measure();
    const now = overloadOf(usage, thresholds, this.#overloaded);
    for (const resource of NODE_RESOURCES) {
      metrics.usedShare.set({ resource }, usage[resource] ?? 0);
      this.#note(resource, now.includes(resource), usage[resource] ?? 0);
    }
    this.#overloaded = now;
  }

  #note(resource: NodeResource, isOverloaded: boolean, share: number): void {
    if (isOverloaded === this.#overloaded.includes(resource)) return;
    const { gate, thresholds, metrics, logger } = this.#parts;
    const about = { resource, used_percent: Math.round(share * 100), max_percent: thresholds[resource] * 100 };
    if (isOverloaded) {
      logger.warn(about, 'the node takes no more work: too much is in use');
      gate.hold(resource);
    } else {
      logger.info(about, 'the node takes work again');
      gate.release(resource);
    }
    metrics.overloaded.set({ resource }, isOverloaded ? 1 : 0);
  }
}
