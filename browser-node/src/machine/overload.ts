import { NODE_RESOURCES, type NodeResource } from '@adsweep/shared/lease/messages.ts';
import type { ResourceUsage } from './resource-usage.ts';

/** The shares, from 0 to 1, above which a node takes no more work; 1: no limit. */
export type LoadThresholds = Record<NodeResource, number>;

/** How far below its threshold a resource must fall before work is taken again (hysteresis). */
const MARGIN = 0.05;

/** The overloaded resources, given those that were overloaded before. A resource whose usage is unknown is not overloaded. Pure. */
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
