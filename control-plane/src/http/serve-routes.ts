import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_BODY_BYTES_MAX, API_BODY_VALUES_MAX } from '@adsweep/shared/limits.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { ApiError, refused } from './api-error.ts';
import type { RoutePermission, SetHeaders } from './caller.ts';
import { ConcurrentRequests } from './concurrent-requests.ts';
import { jsonBytes } from './json-bytes.ts';
import {
  ArrivingBodies,
  addressAsOwner,
  announcedBytes,
  type BodyBounds,
  type BodyOwner,
  organizationAsOwner,
  PACKED_BYTES_MIN,
  readBody,
  readJson,
} from './read-body.ts';
import { type Answer, comparablePath, type Incoming, type Route } from './route.ts';
import { compileValidator, type RequestPart, readQuery, withoutRefused } from './validate.ts';

export const API_BODY: BodyBounds = { bytes: API_BODY_BYTES_MAX, values: API_BODY_VALUES_MAX };

/**
 * Authenticates a request and checks that it has `permission`: returns the caller, or throws 401 or 403. Not called for
 * `none`.
 */
export type Admit<Caller> = (
  authorization: string | undefined,
  permission: RoutePermission,
  params: unknown,
  setHeaders?: SetHeaders,
) => Promise<Caller>;

/**
 * Koa's state of a request. `route`: the path as written in the route, for logs and metrics; absent: an unknown path.
 * `organizationId`: the caller's; absent: the caller has none.
 */
export type RequestState = { route?: string; organizationId?: string };

/**
 * Serves routes: authenticates the caller, validates path, query and body, reports all problems together, calls the
 * handler and sends its response. Unknown paths are left to the next middleware.
 */
export function serveRoutes<Caller>(routes: Route<Caller>[], admit: Admit<Caller>): Middleware[] {
  const router = new Router();
  const shared = { admit, requests: new ConcurrentRequests(), arriving: new ArrivingBodies() };
  for (const route of routes) {
    router.register(koaPath(route.path), [route.method], serveRoute(route, shared));
  }
  return [refuseOtherMethods(routes), router.routes() as Middleware, router.allowedMethods() as Middleware];
}

/** Refuses other methods of fixed paths such as `/scans/bulk`: otherwise `/scans/{id}` would match them. */
function refuseOtherMethods(routes: { method: string; path: string }[]): Middleware {
  const patterns = routes
    .filter(({ path }) => path.includes('{'))
    .map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  const fixed = routes.filter(({ path }) => !path.includes('{') && patterns.some((pattern) => pattern.test(path)));
  const methodsOf = Map.groupBy(fixed, ({ path }) => path);
  return async (context, next) => {
    const served = methodsOf.get(comparablePath(context.path));
    const allowed = served?.flatMap(({ method }) => (method === 'GET' ? READ_METHODS : [method]));
    if (!allowed || allowOnly(context, allowed)) return next();
  };
}

function koaPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** What the requests of all routes have in common. */
type Shared<Caller> = { admit: Admit<Caller>; requests: ConcurrentRequests; arriving: ArrivingBodies };

function serveRoute<Caller>(route: Route<Caller>, { admit, requests, arriving }: Shared<Caller>) {
  const answer = routeAnswerer(route, admit, requests);
  const bounds = route.bodyBounds ?? API_BODY;
  return async (context: Context): Promise<void> => {
    (context.state as RequestState).route = route.path;
    let read: { owner: BodyOwner; bytes: number } | null = null;
    const readBody = async (sender: BodyOwner | null): Promise<unknown> => {
      if (route.bodyIsOptional && !hasBody(context.req)) return {};
      read = { owner: sender ?? ownerOf(context), bytes: announcedBytes(context.req, bounds.bytes) };
      return arriving.share(read.owner, read.bytes, () => readBodyOf(context.req, bounds, route.parseBody));
    };
    await answer({
      params: context.params,
      search: context.querystring,
      headers: context.headers,
      stream: context.req,
      authorization: context.get('authorization'),
      setHeaders: (headers) => context.set(headers),
      admitted: (caller) => noteOrganization(context, caller),
      readBody,
      answered: (given) => send(context, given),
    }).catch((error: unknown) => {
      if (read && error instanceof ApiError && (error.status === 422 || error.status === 413))
        arriving.refused(read.owner, route.parseBody ? Math.max(read.bytes, PACKED_BYTES_MIN) : read.bytes);
      throw error;
    });
  };
}

/**
 * A request to a route, however it arrived. `admitted` is called with its caller before anything else of it is read;
 * `answered` writes its answer, while the request still counts among those of its organization.
 */
export type ArrivedRequest<Caller> = Pick<Incoming<Caller>, 'headers' | 'stream'> & {
  params: unknown;
  /** The query without its question mark. */
  search: string;
  authorization: string | undefined;
  setHeaders?: SetHeaders;
  admitted?: (caller: Caller) => void;
  /** `sender`: with whose bodies it is counted; null: with those of the caller's organization or address. */
  readBody: (sender: BodyOwner | null) => Promise<unknown>;
  answered?: (answer: Answer) => Promise<void>;
};

/**
 * What a route answers to a request: authenticates the caller, waits for the request's turn, validates all parts,
 * reports all problems together, calls the handler.
 */
export function routeAnswerer<Caller>(route: Route<Caller>, admit: Admit<Caller>, requests: ConcurrentRequests) {
  const answerAdmitted = admittedAnswerer(route);
  return async (arrived: ArrivedRequest<Caller>): Promise<Answer> => {
    const { params, stream, authorization, setHeaders } = arrived;
    const caller = (
      route.permission === 'none' ? null : await admit(authorization, route.permission, params, setHeaders)
    ) as Caller;
    arrived.admitted?.(caller);
    return requests.run(route, caller, stream, async () => {
      const answer = await answerAdmitted(arrived, caller);
      await arrived.answered?.(answer);
      return answer;
    });
  };
}

function admittedAnswerer<Caller>(route: Route<Caller>) {
  const validate = {
    path: compileValidator(route.params, 'path'),
    query: compileValidator(route.query, 'query'),
    body: route.body && compileValidator(route.body, 'body'),
  };
  return async (arrived: ArrivedRequest<Caller>, caller: Caller): Promise<Answer> => {
    const { params, search, headers, stream } = arrived;
    const query = readQuery(route.query, new URLSearchParams(search));
    const before = (await route.beforeBody?.({ caller, params, stream })) ?? { sender: null };
    if ('answer' in before) return before.answer;
    const body = validate.body ? await arrived.readBody(before.sender) : undefined;
    const parts = [validate.path(params), validate.query(query), ...(validate.body ? [validate.body(body)] : [])];
    const issues = parts.flatMap((one) => one.issues);
    const { about } = before;
    const request = { caller, params, query, body, headers, stream, about } as Incoming<Caller>;
    const earlier = issues.length === 0 && route.earlierAnswer ? await route.earlierAnswer(request) : null;
    if (earlier) return earlier;
    // `refine` relies on the schema: it is not called for a value whose validation stopped at the maximum of errors.
    const isWhole = parts.every((one) => one.isWhole);
    if (isWhole) issues.push(...(await refine(route, { caller, params, query, body }, issues)));
    if (issues.length > 0) throw refused(issues.map(numbered(route.numberedItems)), isWhole);
    return route.handle(request);
  };
}

function noteOrganization({ state }: Context, caller: unknown): void {
  const { organizationId } = (caller ?? {}) as { organizationId?: string };
  if (organizationId !== undefined) (state as RequestState).organizationId = organizationId;
}

/** With whose unread bodies that of a request is counted: those of its organization or address. */
function ownerOf({ req, state }: Context): BodyOwner {
  const { organizationId } = state as RequestState;
  return organizationId ? organizationAsOwner(organizationId) : addressAsOwner(req.socket.remoteAddress ?? 'unknown');
}

async function readBodyOf(
  request: IncomingMessage,
  bounds: BodyBounds,
  parseBody: Route['parseBody'],
): Promise<unknown> {
  return parseBody ? parseBody(await readBody(request, bounds), bounds) : readJson(request, bounds);
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Puts the index of the item into the message of an issue about an item of the list `field`. */
const numbered =
  (field: string | undefined) =>
  (issue: Issue): Issue => {
    const [part, name, at] = issue.loc;
    if (field === undefined || part !== 'body' || name !== field || typeof at !== 'number') return issue;
    return { ...issue, msg: `${field}[${at}]: ${issue.msg}` };
  };

async function refine<Caller>(
  route: Route<Caller>,
  { caller, params, query, body }: { caller: Caller; params: unknown; query: unknown; body: unknown },
  issues: Issue[],
): Promise<Issue[]> {
  if (!route.refine) return [];
  const of = (part: RequestPart) => issues.filter(({ loc }) => loc[0] === part);
  const isObject = of('body').every(({ loc }) => loc.length > 1);
  return route.refine({
    caller,
    params: params as Record<string, string>,
    query: withoutRefused(query, of('query')),
    body: isObject ? withoutRefused(body, of('body')) : {},
    refused: isObject ? new Set(of('body').map(({ loc }) => String(loc[1]))) : null,
  });
}

async function send(context: Context, answer: Answer): Promise<void> {
  if (answer.unsent) callUnlessSent(context.res, answer.status, answer.unsent);
  context.status = answer.status;
  context.set(answer.headers ?? {});
  if (answer.type) context.type = answer.type;
  if (isJson(answer.body)) {
    context.body = await jsonBytes(answer.body);
    context.type = 'json';
  } else if (answer.body !== undefined) context.body = answer.body;
  if (answer.body === undefined && answer.status === 200) context.body = '';
}

/** Calls `unsent` when a response ends without having been written whole, or with another status. */
function callUnlessSent(response: ServerResponse, status: number, unsent: () => void): void {
  const ended = () => {
    if (!response.writableFinished || response.statusCode !== status) unsent();
  };
  if (response.closed) ended();
  else response.once('close', ended);
}

/** Whether a body is data, not bytes, a text or a stream. */
const isJson = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !('pipe' in body) && !('getReader' in body);

/** The methods of a path that can only be read. */
export const READ_METHODS = ['HEAD', 'GET'];

/**
 * Whether the request has one of `methods`. If not, answers `OPTIONS` with the `Allow` header and returns false; throws
 * 405 for all other methods.
 */
export function allowOnly(context: Context, methods: string[]): boolean {
  if (methods.includes(context.method)) return true;
  context.set('Allow', methods.join(', '));
  if (context.method !== 'OPTIONS') throw new ApiError('method_not_allowed', 'This path does not support this method.');
  context.status = 200;
  context.body = '';
  return false;
}
