import { API_BODY_BYTES_MAX, API_BODY_VALUES_MAX } from '@adsweep/shared/limits.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { ApiError, refused } from './api-error.ts';
import type { RoutePermission, SetHeaders } from './caller.ts';
import type { Place } from './errors.ts';
import { ArrivingBodies, announcedBytes, type BodyBounds, readJson } from './read-body.ts';
import type { Answer, Incoming, Route } from './route.ts';
import { compileCheck, readQuery, withoutRefused } from './validate.ts';

const API_BODY: BodyBounds = { bytes: API_BODY_BYTES_MAX, values: API_BODY_VALUES_MAX };

/** Lets a request in as `permission` asks: answers the caller or throws 401, 403. Not asked for routes that need nobody. */
export type Admit<Caller> = (
  authorization: string | undefined,
  permission: RoutePermission,
  params: unknown,
  setHeaders?: SetHeaders,
) => Promise<Caller>;

/** What a request is counted and logged by: the path as written in the route; absent: an unknown one. */
export type RequestState = { route?: string };

/**
 * Serves routes: authenticates the caller, validates path, query and body, reports all problems together, calls the handler and sends its
 * response. Unknown paths are left to the next middleware.
 */
export function serveRoutes<Caller>(routes: Route<Caller>[], admit: Admit<Caller>): Middleware[] {
  const router = new Router();
  const arriving = new ArrivingBodies();
  for (const route of routes) {
    router.register(koaPath(route.path), [route.method], serveRoute(route, admit, arriving));
  }
  return [refuseOtherMethods(routes), router.routes() as Middleware, router.allowedMethods() as Middleware];
}

/** Paths such as `/scans/bulk` take their own methods alone: `/scans/{id}` would take others for them. */
function refuseOtherMethods(routes: { method: string; path: string }[]): Middleware {
  const patterns = routes
    .filter(({ path }) => path.includes('{'))
    .map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  const fixed = routes.filter(({ path }) => !path.includes('{') && patterns.some((pattern) => pattern.test(path)));
  const methodsOf = Map.groupBy(fixed, ({ path }) => path);
  return async (context, next) => {
    const taken = methodsOf.get(context.path)?.flatMap(({ method }) => (method === 'GET' ? READ_METHODS : [method]));
    if (!taken || allowOnly(context, taken)) return next();
  };
}

function koaPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function serveRoute<Caller>(route: Route<Caller>, admit: Admit<Caller>, arriving: ArrivingBodies) {
  const checks = {
    path: compileCheck(route.params, 'path'),
    query: compileCheck(route.query, 'query'),
    body: route.body && compileCheck(route.body, 'body'),
  };
  return async (context: Context): Promise<void> => {
    (context.state as RequestState).route = route.path;
    const params: unknown = context.params;
    const setHeaders: SetHeaders = (headers) => context.set(headers);
    const caller = (
      route.permission === 'none'
        ? null
        : await admit(context.get('authorization'), route.permission, params, setHeaders)
    ) as Caller;
    const query = readQuery(route.query, new URLSearchParams(context.querystring));
    const body = checks.body ? await readShared(context, caller, route.bodyBounds ?? API_BODY, arriving) : undefined;
    const checked = [checks.path(params), checks.query(query), ...(checks.body ? [checks.body(body)] : [])];
    const issues = checked.flatMap((one) => one.issues);
    // What was not checked to its end may hold anything, which the rules beyond the schema could not work with.
    const isWhole = checked.every((one) => one.isWhole);
    if (isWhole) issues.push(...(await refine(route, { caller, query, body }, issues)));
    if (issues.length > 0) throw refused(issues.map(numbered(route.numberedItems)), isWhole);
    const request = { caller, params, query, body, headers: context.headers, stream: context.req };
    send(context, await route.handle(request as Incoming<Caller>));
  };
}

/** The body of a request; what the bodies of one organization may have together is bounded. Nodes have bounds of their own. */
function readShared({ req }: Context, caller: unknown, bounds: BodyBounds, arriving: ArrivingBodies): Promise<unknown> {
  const { organizationId } = (caller ?? {}) as { organizationId?: string };
  const read = () => readJson(req, bounds);
  return organizationId ? arriving.share(organizationId, announcedBytes(req, bounds.bytes), read) : read();
}

/** What is wrong with an item of the list `field` says which one it is. */
const numbered =
  (field: string | undefined) =>
  (issue: Issue): Issue => {
    const [place, name, at] = issue.loc;
    if (field === undefined || place !== 'body' || name !== field || typeof at !== 'number') return issue;
    return { ...issue, msg: `${field}[${at}]: ${issue.msg}` };
  };

async function refine<Caller>(
  route: Route<Caller>,
  { caller, query, body }: { caller: Caller; query: unknown; body: unknown },
  issues: Issue[],
): Promise<Issue[]> {
  if (!route.refine) return [];
  const of = (place: Place) => issues.filter(({ loc }) => loc[0] === place);
  const isObject = of('body').every(({ loc }) => loc.length > 1);
  return route.refine({
    caller,
    query: withoutRefused(query, of('query')),
    body: isObject ? withoutRefused(body, of('body')) : {},
    refused: isObject ? new Set(of('body').map(({ loc }) => String(loc[1]))) : null,
  });
}

function send(context: Context, answer: Answer): void {
  context.status = answer.status;
  context.set(answer.headers ?? {});
  if (answer.type) context.type = answer.type;
  if (answer.body !== undefined) context.body = answer.body;
  if (answer.body === undefined && answer.status === 200) context.body = '';
}

/** The methods of what is only read. */
export const READ_METHODS = ['HEAD', 'GET'];

/**
 * Whether the request has one of a path's methods. Otherwise it is answered: `OPTIONS` by what there is (`Allow`), any other one by the 405
 * that is thrown.
 */
export function allowOnly(context: Context, methods: string[]): boolean {
  if (methods.includes(context.method)) return true;
  context.set('Allow', methods.join(', '));
  if (context.method !== 'OPTIONS') throw new ApiError('method_not_allowed', 'This path does not take this method.');
  context.status = 200;
  context.body = '';
  return false;
}
