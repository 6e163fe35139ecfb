import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from './api-error.ts';
import { ConcurrentRequests } from './concurrent-requests.ts';
import { operationId } from './operation-id.ts';
import { parseJson } from './read-body.ts';
import type { Answer, Route } from './route.ts';
import { type Admit, API_BODY, routeAnswerer } from './serve-routes.ts';
import { readQuery } from './validate.ts';

/**
 * A request to the API from within its process. `path`: as a client would send it, with its query; `body`: a JSON
 * value; `stream`: the request that caused it, for what depends on its connection.
 */
export type ApiCall = {
  method: Route['method'];
  path: string;
  body?: unknown;
  credential: string;
  headers?: IncomingHttpHeaders;
  stream: IncomingMessage;
};

/**
 * The operation that a request is for: its name, the ids in its path, and its query, whose values have the types that
 * clients send.
 */
export type CalledOperation = { id: string; ids: string[]; query: Record<string, unknown>; hasBody: boolean };

export type ApiInProcess = {
  /** Answers as the API answers a client with this credential; throws `ApiError` where it refuses. */
  call: (request: ApiCall) => Promise<Answer>;
  /** Null: there is no such operation. */
  operationOf: (method: string, path: string) => CalledOperation | null;
};

/** As long as a path with its query may be over HTTP, where the headers of a request are limited. */
const PATH_MAX = 16 * 1024;

/** The API without HTTP: the same routes, permissions, validation and errors. */
export function callRoutes<Caller>(routes: readonly Route<Caller>[], admit: Admit<Caller>): ApiInProcess {
  // A path without parameters goes before one that would match it too.
  const requests = new ConcurrentRequests();
  const served = routes
    .toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))
    .map((route) => ({ route, pattern: patternOf(route.path), answer: routeAnswerer(route, admit, requests) }));
  const find = (method: string, path: string) => {
    for (const one of served) {
      const groups = one.route.method === method ? one.pattern.exec(path)?.groups : undefined;
      if (groups) return { ...one, params: decoded(groups) };
    }
    return null;
  };

  return {
    async call({ method, path, body, credential, headers = {}, stream }) {
      if (path.length > PATH_MAX)
        throw new ApiError('request_too_large', `A path and its query may have at most ${PATH_MAX} characters.`);
      const [pathname = '', search = ''] = path.split('?', 2);
      const found = find(method, pathname);
      if (!found) throw new ApiError('not_found', 'This path does not exist.');
      const { route, answer, params } = found;
      const { values } = route.bodyBounds ?? API_BODY;
      return answer({
        params,
        search,
        headers,
        stream,
        authorization: `Bearer ${credential}`,
        readBody: () => parseJson(Buffer.from(JSON.stringify(body ?? {})), { values }),
      });
    },
    operationOf(method, path) {
      const [pathname = '', search = ''] = path.split('?', 2);
      const found = find(method, pathname);
      if (!found) return null;
      const { route, params } = found;
      const query = readQuery(route.query, new URLSearchParams(search));
      return {
        id: operationId(route as Route<never>),
        ids: Object.values(params),
        query,
        hasBody: route.body !== null,
      };
    },
  };
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^(?<_>)${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** Throws 404 for a path that cannot be decoded. */
function decoded({ _, ...groups }: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new ApiError('not_found', 'This path does not exist.');
  }
}
