import { PRIORITY_CLASSES, type PriorityClass } from '../queue/queue-shards.ts';
import type { QueueLoad } from '../queue/read-depth.ts';
import { nodeStateOf } from './fleet-state.ts';
import type { FleetReading } from './nodes.ts';

/**
 * For how long, in seconds, jobs of each priority class may wait: a person waits for the interactive ones, nobody for
 * those of a campaign.
 */
export const WAIT_TARGET_SECONDS: Readonly<Record<PriorityClass, number>> = { 0: 15, 1: 60, 2: 300 };

/** Seconds that a job is assumed to take before any has ended. */
const USUAL_SECONDS = 10;
/** Slots that a node is assumed to have before any has reported. */
const USUAL_SLOTS = 4;

/**
 * Slots of an average node that can be counted on: those of every node that is not blocked, whether or not it takes
 * work at the moment. An overloaded node counts with the slots in use, but at least half of them: one heavy page must
 * not make all others look small. Without a node, the size of the last one that reported. What an autoscaler starts has
 * the join token: enrolled nodes, which may be of any size and may report another one, count only where there never was
 * any other.
 */
export function slotsPerNode({ nodes, marks, lastSlots }: FleetReading): number {
  const all = nodes.filter((node) => nodeStateOf(node, marks) !== 'blocked');
  const counted = lastSlots === null ? all : all.filter(({ is_enrolled }) => !is_enrolled);
  if (counted.length === 0) return lastSlots ?? USUAL_SLOTS;
  const usable = counted.map(({ slots, busy, overloaded }) =>
    overloaded.length > 0 ? Math.min(slots, Math.max(busy, slots / 2)) : slots,
  );
  return usable.reduce((total, slots) => total + slots, 0) / counted.length;
}

/**
 * Number of nodes that the work needs: a slot for every leased job, and in each class enough of them that waiting and
 * leased jobs are done within the time of the class ({@link WAIT_TARGET_SECONDS}), by the measured seconds of its jobs.
 * Jobs beyond the cap of their organization need none, and no job needs more than one slot. While a backlog is worked
 * off, the number does not rise.
 */
export function desiredNodes(
  { waiting, capped, running, seconds }: Pick<QueueLoad, 'waiting' | 'capped' | 'running' | 'seconds'>,
  slotsOfNode: number,
): number {
  let slots = 0;
  for (const priority of PRIORITY_CLASSES) {
    // A slot does several jobs one after another within the time of the class, but none does part of a job.
    const slotsPerJob = Math.min(1, (seconds[priority] ?? USUAL_SECONDS) / WAIT_TARGET_SECONDS[priority]);
    // Of its own class alone: what one organization may not lease must not hide the interactive jobs of others.
    const leasable = Math.max(0, waiting[priority] - capped[priority]);
    slots += Math.max(running[priority], (leasable + running[priority]) * slotsPerJob);
  }
  // The sum of many fractions may be a little more than the whole number that it stands for.
  return Math.max(0, Math.ceil(slots / slotsOfNode - 1e-9));
}
