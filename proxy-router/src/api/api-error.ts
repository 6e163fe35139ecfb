import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { Context, Middleware } from 'koa';

/** An error response: status, `code`, and a text or the refused fields. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string | Issue[];

  constructor(status: number, code: string, detail: string | Issue[]) {
    super(typeof detail === 'string' ? detail : code);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** Turns every error into a response `{ detail, code }`. An error that is no ApiError is logged and answered 500. */
export function answerErrors(logger: Logger): Middleware {
  return async (context, next) => {
    try {
      await next();
      if (context.status === 404 && !context.body)
        throw new ApiError(404, 'not_found', 'There is nothing at this path.');
    } catch (error) {
      if (error instanceof ConnectionLost) return abandon(context);
      const refusal = error instanceof ApiError ? error : internalError(logger, error);
      context.status = refusal.status;
      context.body = { detail: refusal.detail, code: refusal.code };
    }
  };
}

/** The client has disconnected: no response is sent. */
function abandon(context: Context): void {
  context.respond = false;
  context.res.destroy();
}

function internalError(logger: Logger, cause: unknown): ApiError {
  logger.error({ cause }, 'a request failed');
  return new ApiError(500, 'internal_error', 'Something went wrong on our side.');
}
