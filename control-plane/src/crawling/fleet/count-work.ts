import type { Logger } from '@adsweep/shared/service/logger.ts';
import { CLASS_NAMES, type WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { PRIORITY_CLASSES } from '../queue/queue-shards.ts';
import { desiredNodes, slotsPerNode } from './desired-nodes.ts';
import { NODE_STATES, nodeStateOf, SLOT_STATES, slotsByState } from './fleet-state.ts';
import type { FleetView } from './nodes.ts';

export type CountDependencies = {
  queue: Pick<CrawlQueue, 'load' | 'oldestWaiting'>;
  fleet: FleetView;
  metrics: Pick<WorkMetrics, 'jobs' | 'oldestJob' | 'jobSeconds' | 'nodes' | 'slots' | 'desiredNodes'>;
  logger: Logger;
};

const COUNT_EVERY_MS = 5_000;
/**
 * Counts of a process that cannot count any more, in ms: beside those of others they would hide that nodes are gone.
 */
const COUNTS_HOLD_MS = 60_000;

/** Keeps the gauges of the queue and the nodes up to date, so that a scrape makes no queries. */
export function startCountingWork(dependencies: CountDependencies): Loop {
  return startLoop(dependencies.logger, {
    name: 'counting work',
    everyMs: COUNT_EVERY_MS,
    step: countingStep(dependencies),
  });
}

/**
 * Sets the gauges at each call. Removes them when that has failed for a minute, except for the number of desired nodes:
 * an autoscaler that reads it keeps the nodes that were last known to be needed. `now` in ms.
 */
export function countingStep(dependencies: CountDependencies, now = () => performance.now()): () => Promise<void> {
  const { jobs, oldestJob, jobSeconds, nodes, slots } = dependencies.metrics;
  let countedAt = now();
  return async () => {
    try {
      await countWork(dependencies);
      countedAt = now();
    } catch (error) {
      if (now() - countedAt > COUNTS_HOLD_MS)
        for (const gauge of [jobs, oldestJob, jobSeconds, nodes, slots]) gauge.reset();
      throw error;
    }
  };
}

/** Sets the gauges once. */
export async function countWork({ queue, fleet, metrics }: CountDependencies): Promise<void> {
  const [load, oldest, reading] = await Promise.all([queue.load(), queue.oldestWaiting(), fleet.read()]);
  const { nodes, marks } = reading;
  for (const priority of PRIORITY_CLASSES) {
    metrics.jobs.set({ state: `waiting_${CLASS_NAMES[priority]}` }, load.waiting[priority]);
    metrics.oldestJob.set({ class: CLASS_NAMES[priority] }, oldest[priority]);
    metrics.jobSeconds.set({ class: CLASS_NAMES[priority] }, load.seconds[priority] ?? 0);
  }
  metrics.jobs.set({ state: 'delayed' }, load.delayed);
  metrics.jobs.set({ state: 'leased' }, load.leased);

  for (const state of NODE_STATES)
    metrics.nodes.set({ state }, nodes.filter((node) => nodeStateOf(node, marks) === state).length);
  const slots = slotsByState(nodes, marks);
  for (const state of SLOT_STATES) metrics.slots.set({ state }, slots[state]);
  metrics.desiredNodes.set(desiredNodes(load, slotsPerNode(reading)));
}
