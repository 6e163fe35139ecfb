import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * How often the delay of the event loop is sampled, in ms. Each sample wakes the process: every 10 ms, which is usual, an idle service
 * would spend most of its CPU on them.
 */
const EVENT_LOOP_SAMPLE_MS = 100;

/** A process' registry of metrics, with Node.js' own under the prefix `adsweep_` and the label `service` on all. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, prefix: 'adsweep_', eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  return registry;
}
