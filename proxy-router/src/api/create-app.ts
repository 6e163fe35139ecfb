import { METRICS_REFUSAL, mayReadMetrics } from '@adsweep/shared/service/metrics.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import Koa, { type Middleware } from 'koa';
import type { Registry } from 'prom-client';
import type { RouterMetrics } from '../metrics.ts';
import { answerErrors } from './api-error.ts';
import { overview } from './overview.ts';
import { type ApiDependencies, exitRoutes } from './routes.ts';

export type AppDependencies = ApiDependencies & {
  registry: Registry;
  metricsToken: string;
};

/** The router's HTTP API with its probes. */
export function createApp(dependencies: AppDependencies): Koa {
  const app = new Koa();
  const routes = exitRoutes(dependencies);
  app.silent = true;
  app.use(measure(dependencies.metrics));
  app.use(answerErrors(dependencies.logger));
  // Requests that arrive together would otherwise be answered in one piece.
  app.use(async (_context, next) => {
    await awaitTurn();
    return next();
  });
  app.use(serveProbes(dependencies));
  app.use(routes.routes());
  return app;
}

/** `/healthz` (the process runs) and `/readyz` need no credential; `/metrics` and `/overview` need their token. */
function serveProbes(dependencies: AppDependencies): Middleware {
  const { registry, metricsToken } = dependencies;
  return async (context, next) => {
    const isMeasure = context.path === '/metrics' || context.path === '/overview';
    if (context.path === '/healthz') context.body = { status: 'ok' };
    else if (context.path === '/readyz') {
      const missing = missingFor(dependencies);
      context.status = missing.length === 0 ? 200 : 503;
      context.body = { status: missing.length === 0 ? 'ready' : 'not ready', missing };
    } else if (isMeasure && !mayReadMetrics(context.get('authorization'), metricsToken)) {
      context.status = 401;
      context.body = METRICS_REFUSAL;
    } else if (context.path === '/metrics') {
      context.type = registry.contentType;
      context.body = await registry.metrics();
    } else if (context.path === '/overview') context.body = await overview(dependencies);
    else await next();
  };
}

/**
 * Why the router is not ready; empty when it is. It needs a process that is not starting or stopping and at least one
 * exit. Since its start it has tried to read each catalogue that it has no copy of.
 */
function missingFor({ isReady, source }: AppDependencies): string[] {
  const missing = isReady() ? [] : ['the process is starting or stopping'];
  if (source.isBeginning) missing.push('a catalogue: that of a provider is being read for the first time');
  if (source.isEmpty) missing.push('an exit: no exit is listed and no catalogue was read yet');
  return missing;
}

function measure({ requestSeconds }: RouterMetrics): Middleware {
  return async (context, next) => {
    const stop = requestSeconds.startTimer();
    await next();
    const route = String(context.routerPath ?? context._matchedRoute ?? 'none');
    stop({ method: context.method, route, status: context.status });
  };
}
