import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import { NAME_OF_CLASS, PRIORITY_CLASSES } from '../queue/queue-shards.ts';
import { countSlots, desiredNodes, NODE_STATES, nodeStateOf } from './fleet-state.ts';
import type { FleetView } from './nodes.ts';

export type CountDependencies = {
  queue: Pick<CrawlQueue, 'load' | 'oldestWaiting'>;
  fleet: FleetView;
  metrics: Pick<WorkMetrics, 'jobs' | 'oldestJob' | 'nodes' | 'slots' | 'desiredNodes'>;
  logger: Logger;
};

const COUNT_EVERY_MS = 5_000;

/** Keeps the gauges of the queue and the nodes up to date, so that a scrape makes no queries. */
export function startCountingWork(dependencies: CountDependencies): Loop {
  const step = () => countWork(dependencies);
  return startLoop(dependencies.logger, { name: 'counting work', everyMs: COUNT_EVERY_MS, step });
}

/** Sets the gauges once. */
export async function countWork({ queue, fleet, metrics }: CountDependencies): Promise<void> {
  const [load, oldest, { nodes, marks }] = await Promise.all([queue.load(), queue.oldestWaiting(), fleet.read()]);
  for (const priority of PRIORITY_CLASSES) {
    metrics.jobs.set({ state: `waiting_${NAME_OF_CLASS[priority]}` }, load.waiting[priority]);
    metrics.oldestJob.set({ band: NAME_OF_CLASS[priority] }, oldest[priority]);
  }
  metrics.jobs.set({ state: 'delayed' }, load.delayed);
  metrics.jobs.set({ state: 'leased' }, load.leased);

  for (const state of NODE_STATES)
    metrics.nodes.set({ state }, nodes.filter((node) => nodeStateOf(node, marks) === state).length);
  const { slots, busy } = countSlots(nodes, marks);
  metrics.slots.set({ state: 'busy' }, busy);
  metrics.slots.set({ state: 'free' }, Math.max(0, slots - busy));
  metrics.desiredNodes.set(desiredNodes(load, nodes, marks));
}
