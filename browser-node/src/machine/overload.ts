import { NODE_RESOURCES, type NodeResource } from '@adsweep/shared/lease/messages.ts';
import type { ResourceUsage } from './resource-usage.ts';

/** The shares, from 0 to 1, above which a node takes no more work; 1: whatever is in use, it does. */
export type LoadThresholds = Record<NodeResource, number>;

/** So far below its threshold a resource must fall before work is taken again, so that the node does not change its mind all the time. */
const MARGIN = 0.05;

/** The resources of which too much is in use, given those of which that was so before. What is not known is not too much. Pure. */
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
