import { METRICS_REFUSAL, mayReadMetrics } from '@adsweep/shared/service/metrics.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Middleware } from 'koa';
import type { Registry } from 'prom-client';
import { allowOnly, READ_METHODS, type RequestState } from './serve-routes.ts';

/** A component that this process needs: its name, and a function that rejects while it is unavailable. */
export type ReadyCheck = [name: string, check: () => Promise<void> | void];

const PATHS = new Set(['/healthz', '/readyz', '/metrics']);
const CHECK_DEADLINE_MS = 1_000;

/**
 * Serves `/healthz` (200 while the process runs; depends on no other component), `/readyz` (503 with the names of the
 * components that fail their check) and `/metrics` (Prometheus, needs `metricsToken`). The first two need no
 * credential, and none contains data of scans.
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

/** The names of the components that fail their check, or do not answer within a second. */
export async function findMissing(checks: ReadyCheck[]): Promise<string[]> {
  const results = checks.map(async ([name, check]) => withDeadline(check(), CHECK_DEADLINE_MS, name));
  const outcomes = await Promise.allSettled(results);
  return checks.filter((_, position) => outcomes[position]?.status === 'rejected').map(([name]) => name);
}
