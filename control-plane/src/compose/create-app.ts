import type { Logger } from '@adsweep/shared/service/logger.ts';
import Koa, { type Middleware } from 'koa';
import type { Registry } from 'prom-client';
import { CONSOLE_CLIENT_ID } from '../accounts/oauth/oauth-client.ts';
import { openConsole } from '../console/console.ts';
import type { Domain } from '../domain.ts';
import { LEGACY_PATHS } from '../forms/form-paths.ts';
import { allowOrigins } from '../http/allow-origins.ts';
import { type ApiInProcess, callRoutes } from '../http/call-routes.ts';
import { authenticate, type Caller, type FindCaller } from '../http/caller.ts';
import { compress } from '../http/compress.ts';
import { type CountedRequests, countedRequests } from '../http/counted-request.ts';
import { deprecatePaths } from '../http/deprecate-paths.ts';
import { serveDocuments } from '../http/documents/serve-documents.ts';
import { idempotencyStore } from '../http/idempotency-store.ts';
import { type ReadyCheck, serveProbes } from '../http/probes.ts';
import type { BodyBounds } from '../http/read-body.ts';
import { serveReference } from '../http/reference/serve-reference.ts';
import { type AnsweredRequest, logUnsent, requestLifecycle } from '../http/request-lifecycle.ts';
import type { Route } from '../http/route.ts';
import { type ConsoleSurface, serveConsole } from '../http/serve-console.ts';
import { serveMcp } from '../http/serve-mcp.ts';
import { type OAuthSurface, serveOAuth } from '../http/serve-oauth.ts';
import { type Admit, API_BODY, serveRoutes } from '../http/serve-routes.ts';
import { boundUnsent } from '../http/unsent-answers.ts';
import type { Metrics } from '../metrics.ts';
import type { Platform } from '../platform/platform.ts';
import { apiRoutes } from './api-routes.ts';
import type { Domains } from './domains.ts';

/**
 * What an app is made of. `docs`: whether the documents are served beside the routes; `oauth`: what is served of OAuth
 * 2.0.
 */
export type AppParts<Caller> = {
  routes: Route<Caller>[];
  admit: Admit<Caller>;
  readyChecks: ReadyCheck[];
  registry: Registry;
  metricsToken: string;
  logger: Logger;
  seen: (request: AnsweredRequest) => void;
  docs: boolean;
  oauth?: OAuthSurface | undefined;
  /** What runs before the routes. */
  before?: Middleware[];
};

/**
 * One HTTP surface: the routes, the probes and, for people, the documents. Every request goes through the same
 * lifecycle.
 */
export function createApp<Caller>(parts: AppParts<Caller>): Koa {
  const app = new Koa();
  app.use(requestLifecycle(parts.logger, parts.seen));
  app.use(compress());
  app.use(boundUnsent());
  app.use(serveProbes(parts.readyChecks, parts.registry, parts.metricsToken));
  if (parts.docs) for (const middleware of [serveReference(), serveDocuments()]) app.use(middleware);
  if (parts.oauth) app.use(serveOAuth(parts.oauth));
  for (const middleware of parts.before ?? []) app.use(middleware);
  for (const middleware of serveRoutes(parts.routes, parts.admit)) app.use(middleware);
  app.on('error', (cause: unknown) => logUnsent(cause, parts.logger));
  return app;
}

/** What both surfaces of a process have in common. */
export type SurfaceParts = {
  platform: Platform;
  metrics: Metrics;
  domains: Domains;
  readyChecks: ReadyCheck[];
  metricsToken: string;
};

/** What the surface for clients serves: the routes of all domains, with what holds for all of them. */
export function clientRoutes({ platform, domains }: Pick<SurfaceParts, 'platform' | 'domains'>, publicUrl: string) {
  const all: Pick<Domain, 'routes'>[] = Object.values(domains);
  const idempotency = idempotencyStore(platform.store);
  const { isActive, storedPerDay } = domains.accounts.verbs;
  return apiRoutes(
    all.flatMap(({ routes }) => routes.api ?? []),
    { idempotency, isActive, storedPerDay, publicUrl },
  );
}

/**
 * `mcpUrl`, `consoleUrl`: where this process serves the API, for the tools of assistants and for the console; null:
 * there are none, or it is off.
 */
export type ClientSurface = { publicUrl: string; mcpUrl: string | null; consoleUrl: string | null };

/** The surface for clients, for readers of public reports, for assistants and for people at the console. */
export function clientApp(surface: SurfaceParts, { publicUrl, mcpUrl, consoleUrl }: ClientSurface): Koa {
  const routes = clientRoutes(surface, publicUrl);
  const counted = countedRequests();
  const admit = admitCallers(surface, counted);
  const before: Middleware[] = [];
  if (mcpUrl !== null)
    before.push(
      serveMcp({
        publicUrl,
        apiUrl: mcpUrl,
        admit,
        counted: counted.mark,
        bodyBounds: largestBodyOf(routes),
        closing: surface.platform.closing,
        broadcast: surface.platform.broadcast,
      }),
    );
  const urls = { publicUrl, ownUrl: consoleUrl ?? '' };
  if (consoleUrl !== null) before.push(serveConsole(consoleOf(surface, callRoutes(routes, admit), counted.mark, urls)));
  return forClients(surface, { routes, docs: true, admit }, before);
}

/** The bounds within which the body of each of these routes is. */
function largestBodyOf(routes: Route<Caller>[]): BodyBounds {
  const all = routes.map(({ bodyBounds = API_BODY }) => bodyBounds);
  return { bytes: Math.max(...all.map(({ bytes }) => bytes)), values: Math.max(...all.map(({ values }) => values)) };
}

function consoleOf(
  { platform, domains }: SurfaceParts,
  api: ApiInProcess,
  counted: CountedRequests['mark'],
  urls: { publicUrl: string; ownUrl: string },
): ConsoleSurface {
  const { limits, signInPath, endSession } = domains.accounts.verbs.oauthSurface;
  return openConsole({
    store: platform.store,
    api,
    counted,
    ...urls,
    clientId: CONSOLE_CLIENT_ID,
    endOAuthSession: endSession,
    countSignIn: async (request) => limits[signInPath]?.count(request),
    failed: (cause, request_id) => platform.logger.error({ cause, request_id }, 'a page of the console failed'),
  });
}

/** What a process without the role `api` serves in its place: the probes. */
export const probesApp = (surface: SurfaceParts): Koa => forClients(surface, { routes: [], docs: false });

/** These routes, for callers with an API key. `before`: what else is served to them. */
export function forClients(
  surface: SurfaceParts,
  {
    routes,
    docs,
    admit = admitCallers(surface, countedRequests()),
  }: Pick<AppParts<Caller>, 'routes' | 'docs'> & Partial<Pick<AppParts<Caller>, 'admit'>>,
  before: Middleware[] = [],
) {
  const { domains, metrics, platform, ...probes } = surface;
  return createApp<Caller>({
    before: [
      ...before,
      allowOrigins(domains.forms.verbs.openTo.paths, domains.forms.verbs.openTo.origins),
      deprecatePaths(LEGACY_PATHS.successors, LEGACY_PATHS.since),
    ],
    routes,
    docs,
    ...probes,
    logger: platform.logger,
    registry: metrics.registry,
    seen: metrics.seen('api'),
    oauth: docs ? domains.accounts.verbs.oauthSurface : undefined,
    admit,
  });
}

/** Admits callers with an API key or an OAuth token. */
const admitCallers =
  ({ domains }: Pick<SurfaceParts, 'domains'>, { unmark }: CountedRequests): Admit<Caller> =>
  (authorization, permission, _params, setHeaders) => {
    const { findCaller: findAndCount, findUncounted, oauthSurface } = domains.accounts.verbs;
    const findCaller: FindCaller = (credential, set, needed) => {
      const marked = unmark(credential);
      return marked === null ? findAndCount(credential, set, needed) : findUncounted(marked, set, needed);
    };
    const { resourceMetadataUrl: metadataUrl } = oauthSurface;
    return authenticate(findCaller, authorization, permission, { metadataUrl, ...(setHeaders && { setHeaders }) });
  };

/** The surface for browser nodes: leases, uploads, captures. */
export function nodeApp({ domains, metrics, platform, ...probes }: SurfaceParts): Koa {
  const { crawling } = domains;
  return createApp({
    ...probes,
    logger: platform.logger,
    registry: metrics.registry,
    seen: metrics.seen('node_api'),
    docs: false,
    routes: crawling.routes['node-api'],
    admit: crawling.verbs.admit,
  });
}
