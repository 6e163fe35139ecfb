import { METRICS_REFUSAL, mayReadMetrics } from '@adsweep/shared/service/metrics.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Middleware } from 'koa';
import type { Registry } from 'prom-client';
import type { RequestState } from './serve-routes.ts';
import { allowOnly, READ_METHODS } from './serve-routes.ts';

/** Something this process cannot work without, by name: resolves when it is there, rejects when it is not. */
export type ReadyCheck = [name: string, check: () => Promise<void> | void];

const PATHS = new Set(['/healthz', '/readyz', '/metrics']);
const CHECK_DEADLINE_MS = 1_000;

/**
 * `/healthz` (the process runs; asks nothing of anyone), `/readyz` (503 while something is missing, starting or draining: the answer
 * names it) need no credential; `/metrics` (Prometheus) needs `metricsToken`. They say nothing of anyone's scans.
 */
export function serveProbes(checks: ReadyCheck[], registry: Registry, metricsToken: string): Middleware {
  return async (context, next) => {
    if (!PATHS.has(context.path)) return next();
    (context.state as RequestState).route = context.path;
    if (!allowOnly(context, READ_METHODS)) return;
    if (context.path === '/healthz') {
      context.body = { status: 'ok' };
    } else if (context.path === '/readyz') {
      const missing = await findMissing(checks);
      context.status = missing.length === 0 ? 200 : 503;
      context.body = { status: missing.length === 0 ? 'ready' : 'not ready', missing };
    } else if (!mayReadMetrics(context.get('authorization'), metricsToken)) {
      context.status = 401;
      context.set('WWW-Authenticate', 'Bearer realm="adsweep metrics"');
      context.body = METRICS_REFUSAL;
    } else {
      context.type = registry.contentType;
      context.body = await registry.metrics();
    }
  };
}

async function findMissing(checks: ReadyCheck[]): Promise<string[]> {
  const asked = checks.map(async ([name, check]) => withDeadline(check(), CHECK_DEADLINE_MS, name));
  const answers = await Promise.allSettled(asked);
  return checks.filter((_, position) => answers[position]?.status === 'rejected').map(([name]) => name);
}
