import { collectDefaultMetrics, Registry } from 'prom-client';

/** A process' registry of metrics, with Node.js' own under the prefix `adsweep_` and the label `service` on all. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, prefix: 'adsweep_' });
  return registry;
}
