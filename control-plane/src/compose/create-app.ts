import type { Logger } from '@adsweep/shared/service/logger.ts';
import Koa from 'koa';
import type { Registry } from 'prom-client';
import { serveDocs } from '../http/docs-page.ts';
import { type ReadyCheck, serveProbes } from '../http/probes.ts';
import { type AnsweredRequest, logUnsent, requestLifecycle } from '../http/request-lifecycle.ts';
import type { Route } from '../http/route.ts';
import { type Admit, serveRoutes } from '../http/serve-routes.ts';

/** What an app is made of. `docs`: whether the reference page is served beside the routes. */
export type AppParts<Caller> = {
  routes: Route<Caller>[];
  admit: Admit<Caller>;
  readyChecks: ReadyCheck[];
  registry: Registry;
  metricsToken: string;
  logger: Logger;
  seen: (request: AnsweredRequest) => void;
  docs: boolean;
};

/** One HTTP surface: the routes, the probes and, for people, the reference page. Every request goes through the same lifecycle. */
export function createApp<Caller>(parts: AppParts<Caller>): Koa {
  const app = new Koa();
  app.use(requestLifecycle(parts.logger, parts.seen));
  app.use(serveProbes(parts.readyChecks, parts.registry, parts.metricsToken));
  if (parts.docs) app.use(serveDocs());
  for (const middleware of serveRoutes(parts.routes, parts.admit)) app.use(middleware);
  app.on('error', (cause: unknown) => logUnsent(cause, parts.logger));
  return app;
}
