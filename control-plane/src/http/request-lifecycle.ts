import { randomUUID } from 'node:crypto';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Middleware } from 'koa';
import { ApiError } from './api-error.ts';
import { answerError } from './on-error.ts';
import { refusalLog } from './refusal-log.ts';
import type { RequestState } from './serve-routes.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Default headers of every response: it is data for the caller alone, and nothing in it may run. */
const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

/** One request as the log and the metrics see it; `route` is the path as written in the route, '' for an unknown one. */
export type AnsweredRequest = { method: string; route: string; status: number; seconds: number };

/** Around every request: its id (the client's own `X-Request-Id` where it is usable), headers, errors, log and metrics. */
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
      if (context.body === undefined) refuseUnserved(context.status);
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

/** Requests that no route handled: an unknown path, or a method that the path does not have (`Allow` is set already). */
function refuseUnserved(status: number): void {
  if (status === 404) throw new ApiError('not_found', 'There is nothing at this path.');
  if (status === 405 || status === 501)
    throw new ApiError('method_not_allowed', 'This path does not take this method.');
}
