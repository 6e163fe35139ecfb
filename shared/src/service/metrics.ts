import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { bearerCredential, isOneOfSecrets } from './bearer.ts';

/**
 * How often the delay of the event loop is sampled, in ms. Each sample wakes the process: at the default of 10 ms an
 * idle service would spend most of its CPU on them.
 */
const EVENT_LOOP_SAMPLE_MS = 100;

/** A process' registry of metrics, with Node.js' own under the prefix `adsweep_` and the label `service` on all. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, prefix: 'adsweep_', eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  for (const { name } of registry.getMetricsAsArray()) renameGauge(registry, name);
  return registry;
}

/** Only counters may end in `_total`: prom-client's sums of handles, requests and resources are gauges and do. */
function renameGauge(registry: Registry, name: string): void {
  const metric = registry.getSingleMetric(name);
  if (!(metric instanceof Gauge) || !name.endsWith('_total')) return;
  registry.removeSingleMetric(name);
  registry.registerMetric(Object.assign(metric, { name: name.replace(/_total$/, '_all') }));
}

/**
 * Whether a request's `Authorization` header opens `/metrics`: a bearer credential (RFC 6750), one of `tokens`
 * (separated by commas).
 */
export function mayReadMetrics(authorization: string | undefined, tokens: string): boolean {
  return isOneOfSecrets(bearerCredential(authorization), tokens);
}

/** The body of a 401 response for `/metrics`. */
export const METRICS_REFUSAL = {
  detail: 'Metrics need the metrics token, or the node token where none is set.',
  code: 'unauthorized',
};
