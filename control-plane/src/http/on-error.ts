import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import type { Context } from 'koa';
import { isDiskFull } from '../platform/disk-space.ts';
import { ApiError } from './api-error.ts';

/** The one place that turns an error into a response: public text to the client, the cause to the log. */
export function answerError(context: Context, error: unknown, log: Logger): void {
  if (error instanceof ConnectionLost) {
    log.info({ cause: error.cause }, 'the client went away');
    context.respond = false;
    context.res.destroy();
    return;
  }
  const refusal = error instanceof ApiError ? error : asApiError(error);
  // A 503 says that a part is away; whoever watches that part logs its outage, once and not per request.
  if (refusal.status === 500) log.error({ code: refusal.code, cause: refusal.cause }, 'a request failed');
  else if (refusal.cause) log.debug({ code: refusal.code, cause: refusal.cause }, 'a request was refused');
  context.status = refusal.status;
  context.set(refusal.headers);
  context.set('Cache-Control', 'no-store');
  context.body = { detail: refusal.detail, code: refusal.code };
}

/** Errors of the router (a path that cannot be decoded) carry a status of their own; whatever else is thrown broke on our side. */
function asApiError(error: unknown): ApiError {
  const status = error instanceof Error && 'status' in error ? error.status : 500;
  if (status === 400 || status === 404) return new ApiError('not_found', 'There is nothing at this path.');
  if (isDiskFull(error)) return storageFull(error);
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: error });
}

const storageFull = (cause: unknown) =>
  new ApiError('storage.full', 'There is no room left to store this.', { cause, headers: { 'Retry-After': '10' } });

/** What a connection says when the other side closed it; a store that breaks off says something else. */
const CLOSED_BY_CLIENT = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Logs a response that was interrupted while it was sent; a client that goes away needs no attention. */
export function logUnsent(cause: unknown, log: Logger): void {
  const isClient = cause instanceof Error && 'code' in cause && CLOSED_BY_CLIENT.has(cause.code);
  log[isClient ? 'debug' : 'error']({ cause }, 'an answer could not be sent');
}
