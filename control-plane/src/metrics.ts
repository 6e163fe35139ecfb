import { createRegistry } from '@adsweep/shared/service/metrics.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Seen } from './http/frame.ts';

/** Every metric of the control plane; labels come from closed sets. */
export type Metrics = ReturnType<typeof createMetrics>;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createMetrics() {
  const registry: Registry = createRegistry('control-plane');
  const registers = [registry];
  const requests = new Histogram({
    name: 'adsweep_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer, by route as written in the API.',
    labelNames: ['surface', 'method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers,
  });
  const submitted = new Counter({
    name: 'adsweep_scans_submitted_total',
    help: 'Scans that were accepted and charged.',
    registers,
  });
  const catalogueRead = new Gauge({
    name: 'adsweep_catalogue_read_timestamp_seconds',
    help: "Unix time at which the proxy-router's catalogue was last read; 0: not yet.",
    registers,
  });
  return {
    registry,
    submitted,
    catalogueRead,
    /** Records answers of one surface: `api` or `node_api`. */
    seen:
      (surface: 'api' | 'node_api') =>
      ({ method, route, status, seconds }: Seen): void => {
        const known = METHODS.has(method) ? method : 'other';
        requests.observe({ surface, method: known, route: route || 'unknown', status }, seconds);
      },
  };
}
