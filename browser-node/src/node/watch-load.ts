import { NODE_RESOURCES, type NodeResource } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ClaimGate } from '../lease/claim-gate.ts';
import type { ResourceUsage } from '../machine/resource-usage.ts';
import type { NodeMetrics } from '../metrics.ts';

const MEASURE_EVERY_MS = 1_000;

export type LoadParts = {
  measure: () => ResourceUsage;
  thresholds: LoadThresholds;
  gate: Pick<ClaimGate, 'hold' | 'release'>;
  /** Called with each measurement. */
  measured?: (usage: ResourceUsage) => void;
  metrics: Pick<NodeMetrics, 'usedShare' | 'overloaded'>;
  logger: Logger;
};

/**
 * Holds the gate while too much of the machine's memory or CPU is in use. Running captures go on. Each change is logged
 * once.
 */
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

  start(): void {
    this.update();
    this.#timer ??= setInterval(() => this.update(), MEASURE_EVERY_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  update(): void {
    const { measure, thresholds, metrics } = this.#parts;
    const usage = measure();
    const now = overloadOf(usage, thresholds, this.#overloaded);
    for (const resource of NODE_RESOURCES) {
      metrics.usedShare.set({ resource }, usage[resource] ?? 0);
      this.#note(resource, now.includes(resource), usage[resource] ?? 0);
    }
    this.#overloaded = now;
    this.#parts.measured?.(usage);
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

/** The shares, from 0 to 1, above which a node takes no more work; 1: no limit. */
export type LoadThresholds = Record<NodeResource, number>;

/** How far below its threshold a resource must fall before work is taken again (hysteresis). */
const MARGIN = 0.05;

/**
 * The overloaded resources, given those that were overloaded before. A resource whose usage is unknown is not
 * overloaded. Pure.
 */
export function overloadOf(
  usage: ResourceUsage,
  thresholds: LoadThresholds,
  before: readonly NodeResource[],
): NodeResource[] {
  return NODE_RESOURCES.filter((resource) => {
    if (thresholds[resource] >= 1) return false;
    const limit = thresholds[resource] - (before.includes(resource) ? MARGIN : 0);
    return (usage[resource] ?? 0) > limit;
  });
}
