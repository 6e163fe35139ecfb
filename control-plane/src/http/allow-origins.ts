import type { Middleware } from 'koa';
import { comparablePath } from './route.ts';

/** How long a browser remembers what it may send, in seconds. */
const REMEMBERED_SECONDS = 600;

/**
 * Lets pages of exactly these origins send JSON to these paths and read the answers, refusals too. Credentials are
 * never sent along. Answers preflight requests of those origins; all others are answered as without this.
 */
export function allowOrigins(paths: readonly string[], origins: readonly string[]): Middleware {
  const [open, allowed] = [new Set(paths), new Set(origins)];
  return async (context, next) => {
    if (!open.has(comparablePath(context.path))) return next();
    context.vary('Origin');
    const origin = context.get('origin');
    if (!allowed.has(origin)) return next();
    context.set('Access-Control-Allow-Origin', origin);
    context.set('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
    if (context.method !== 'OPTIONS' || context.get('access-control-request-method') === '') return next();
    context.set({
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Content-Type',
      'Access-Control-Max-Age': String(REMEMBERED_SECONDS),
    });
    context.status = 204;
    context.body = null;
  };
}
