import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { Nodes } from './nodes.ts';

export type CountDependencies = {
  queue: Pick<CrawlQueue, 'depth'>;
  nodes: Pick<Nodes, 'list'>;
  metrics: Pick<WorkMetrics, 'jobs' | 'nodes' | 'slots' | 'desiredNodes'>;
  logger: Logger;
};

const COUNT_EVERY_MS = 5_000;
/** What a node is taken to have while none has said so. */
const USUAL_SLOTS = 4;

/** Keeps the gauges of queue and nodes fresh, so that a scrape asks nobody. */
export function startCountingWork(dependencies: CountDependencies): Loop {
  const turn = () => countWork(dependencies, new Date());
  return startLoop(dependencies.logger, { name: 'counting work', everyMs: COUNT_EVERY_MS, turn });
}

/** Sets the gauges once. */
export async function countWork({ queue, nodes, metrics }: CountDependencies, now: Date): Promise<void> {
  const [{ waiting, delayed, leased }, reported] = await Promise.all([queue.depth(), nodes.list(now)]);
  metrics.jobs.set({ state: 'waiting_interactive' }, waiting[0]);
  metrics.jobs.set({ state: 'waiting_bulk' }, waiting[1]);
  metrics.jobs.set({ state: 'delayed' }, delayed);
  metrics.jobs.set({ state: 'leased' }, leased);

  const working = reported.filter(({ draining }) => !draining);
  const slots = working.reduce((total, node) => total + node.slots, 0);
  const busy = working.reduce((total, node) => total + node.busy, 0);
  metrics.nodes.set({ state: 'working' }, working.length);
  metrics.nodes.set({ state: 'draining' }, reported.length - working.length);
  metrics.slots.set({ state: 'busy' }, busy);
  metrics.slots.set({ state: 'free' }, Math.max(0, slots - busy));
  const slotsPerNode = working.length > 0 ? slots / working.length : USUAL_SLOTS;
  metrics.desiredNodes.set(Math.ceil((waiting[0] + waiting[1] + leased) / slotsPerNode));
}
