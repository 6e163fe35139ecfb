import type { Logger } from '@adsweep/shared/service/logger.ts';
import { METRICS_REFUSAL, mayReadMetrics } from '@adsweep/shared/service/may-read-metrics.ts';
import Koa, { type Middleware } from 'koa';
import type { Registry } from 'prom-client';
import type { RouterMetrics } from '../metrics.ts';
import { answerErrors } from './answer-errors.ts';
import { type ApiDependencies, exitRoutes } from './routes.ts';

export type AppDependencies = ApiDependencies & {
  registry: Registry;
  logger: Logger;
  isReady: () => boolean;
  metricsToken: string;
};

/** The router's HTTP API with its probes. */
export function createApp(dependencies: AppDependencies): Koa {
  const app = new Koa();
  const routes = exitRoutes(dependencies);
  app.silent = true;
  app.use(measure(dependencies.metrics));
  app.use(answerErrors(dependencies.logger));
  app.use(serveProbes(dependencies));
  app.use(routes.routes());
  return app;
}

/** `/healthz` (the process runs), `/readyz` (503 while starting or stopping) need no credential; `/metrics` needs its token. */
function serveProbes({ registry, isReady, metricsToken }: AppDependencies): Middleware {
  return async (context, next) => {
    if (context.path === '/healthz') context.body = { status: 'ok' };
    else if (context.path === '/readyz') {
      context.status = isReady() ? 200 : 503;
      context.body = { status: isReady() ? 'ready' : 'not ready' };
    } else if (context.path === '/metrics' && !mayReadMetrics(context.get('authorization'), metricsToken)) {
      context.status = 401;
      context.body = METRICS_REFUSAL;
    } else if (context.path === '/metrics') {
      context.type = registry.contentType;
      context.body = await registry.metrics();
    } else await next();
  };
}

function measure({ requestSeconds }: RouterMetrics): Middleware {
  return async (context, next) => {
    const stop = requestSeconds.startTimer();
    await next();
    const route = String(context.routerPath ?? context._matchedRoute ?? 'none');
    stop({ method: context.method, route, status: context.status });
  };
}
