import { randomUUID } from 'node:crypto';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import type { Context, Middleware } from 'koa';
import { isDiskFull } from '../platform/disk-space.ts';
import { ObjectsUnavailable } from '../platform/objects/object-store.ts';
import { ApiError } from './api-error.ts';
import type { RequestState } from './serve-routes.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Default headers of every response: the body is data for this caller only, and no script in it may run. */
const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

/** A request in logs and metrics; `route` is the path as written in the route, '' for an unknown one. */
export type AnsweredRequest = { method: string; route: string; status: number; seconds: number };

/**
 * The outermost middleware: assigns the request id (the client's `X-Request-Id` if it is valid), sets headers, answers
 * errors, logs and counts.
 */
export function requestLifecycle(logger: Logger, record: (request: AnsweredRequest) => void): Middleware {
  const logRefusal = refusalLog();
  return async (context, next) => {
    const started = performance.now();
    const sent = context.get('x-request-id');
    const requestId = REQUEST_ID.test(sent) ? sent : randomUUID();
    const state: RequestState = {};
    context.state = state;
    context.set({ ...HEADERS, 'X-Request-Id': requestId });
    try {
      await next();
      if (context.body === undefined && context.respond !== false) refuseUnserved(context.status);
    } catch (error) {
      answerError(context, error, logger.child({ request_id: requestId }));
    }
    const { method, status } = context;
    const seconds = (performance.now() - started) / 1000;
    record({ method, route: state.route ?? '', status, seconds });
    const answered = {
      request_id: requestId,
      method,
      route: state.route ?? '',
      status,
      ms: Math.round(seconds * 1000),
    };
    if (status >= 400 && status < 500) logRefusal(logger, answered);
    else logger[status >= 500 ? 'info' : 'debug'](answered, 'answered');
  };
}

/**
 * Requests that no route handled: an unknown path, or a method that the path does not have (`Allow` is set already).
 */
function refuseUnserved(status: number): void {
  if (status === 404) throw new ApiError('not_found', 'This path does not exist.');
  if (status === 405 || status === 501)
    throw new ApiError('method_not_allowed', 'This path does not support this method.');
}

/** Sends the response for an error: public text to the client, the cause to the log. All errors are answered here. */
function answerError(context: Context, error: unknown, log: Logger): void {
  if (error instanceof ConnectionLost) {
    log.info({ cause: error.cause }, 'the client disconnected');
    context.respond = false;
    context.res.destroy();
    return;
  }
  const refusal = asApiError(error);
  // The outage behind a 503 is logged once by the code that monitors the component, not for each request.
  if (refusal.status === 500) log.error({ code: refusal.code, cause: refusal.cause }, 'a request failed');
  else if (refusal.cause) log.debug({ code: refusal.code, cause: refusal.cause }, 'a request was refused');
  context.status = refusal.status;
  context.set(refusal.headers);
  context.set('Cache-Control', 'no-store');
  context.body = { detail: refusal.detail, code: refusal.code };
}

/**
 * An error as the refusal that is answered. Errors of the router (a path that cannot be decoded) have a status; those
 * that are not known are internal errors.
 */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const status = error instanceof Error && 'status' in error ? error.status : 500;
  if (status === 400 || status === 404) return new ApiError('not_found', 'This path does not exist.');
  if (isDiskFull(error)) return storageFull(error);
  if (error instanceof ObjectsUnavailable) return objectsUnavailable(error);
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: error });
}

const storageFull = (cause: unknown) =>
  new ApiError('storage.full', 'The storage takes nothing at the moment.', { cause, headers: { 'Retry-After': '10' } });

const objectsUnavailable = (cause: unknown) =>
  new ApiError('unavailable', 'Stored files cannot be reached at the moment.', {
    cause,
    headers: { 'Retry-After': '10' },
  });

/** Error codes of a connection that the client closed. Errors of the store have others. */
const CLOSED_BY_CLIENT = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Logs a response that could not be sent completely, at debug level if the client disconnected. */
export function logUnsent(cause: unknown, log: Logger): void {
  const isClient = cause instanceof Error && 'code' in cause && CLOSED_BY_CLIENT.has(cause.code);
  log[isClient ? 'debug' : 'error']({ cause }, 'a response could not be sent');
}

/** Log lines per minute, route and status; further refusals are only counted. Metrics count all. */
const LINES_MAX = 10;
const WINDOW_MS = 60_000;
/** An upper bound, although routes and statuses are closed sets. */
const KINDS_MAX = 1_000;

export type Refusal = { request_id: string; method: string; route: string; status: number; ms: number };

type Window = { since: number; lines: number; left: number };

/**
 * Logs refusals (4xx) at a limited rate, so that clients cannot fill the disk: the first ten of a route and status per
 * minute, and the number of the others with the next line. `now` in ms.
 */
export function refusalLog(now: () => number = Date.now) {
  const windows = new Map<string, Window>();
  return (log: Logger, refusal: Refusal): void => {
    const kind = `${refusal.route} ${refusal.status}`;
    const window = windows.get(kind) ?? { since: now(), lines: 0, left: 0 };
    if (now() - window.since >= WINDOW_MS) {
      const { left } = window;
      if (left > 0)
        log.info({ route: refusal.route, status: refusal.status, left }, 'further refusals were not logged');
      Object.assign(window, { since: now(), lines: 0, left: 0 });
    }
    if (windows.size < KINDS_MAX) windows.set(kind, window);
    if (window.lines++ < LINES_MAX) log.info(refusal, 'refused');
    else window.left++;
  };
}
