import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ConnectionLost } from '@adsweep/shared/service/read-bytes.ts';
import type { Context, Middleware } from 'koa';
import { ApiError } from './api-error.ts';

/** The one place where an error becomes an answer, `{ detail, code }`. An error that is not a refusal is answered 500 and logged. */
export function answerErrors(logger: Logger): Middleware {
  return async (context, next) => {
    try {
      await next();
      if (context.status === 404 && !context.body)
        throw new ApiError(404, 'not_found', 'There is nothing at this path.');
    } catch (error) {
      if (error instanceof ConnectionLost) return abandon(context);
      const refusal = error instanceof ApiError ? error : broken(logger, error);
      context.status = refusal.status;
      context.body = { detail: refusal.detail, code: refusal.code };
    }
  };
}

/** Nobody is there to answer. */
function abandon(context: Context): void {
  context.respond = false;
  context.res.destroy();
}

function broken(logger: Logger, cause: unknown): ApiError {
  logger.error({ cause }, 'a request failed');
  return new ApiError(500, 'internal_error', 'Something went wrong on our side.');
}
