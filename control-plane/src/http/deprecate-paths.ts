import type { Middleware } from 'koa';
import { comparablePath } from './route.ts';

/**
 * Tells clients of these paths, in refusals too, that another one replaces each of them (RFC 9745, RFC 8288).
 * `successors`: by path. `since`: when they were replaced.
 */
export function deprecatePaths(successors: ReadonlyMap<string, string>, since: Date): Middleware {
  return async (context, next) => {
    const successor = successors.get(comparablePath(context.path));
    if (successor !== undefined) {
      context.set('Deprecation', `@${Math.floor(since.getTime() / 1000)}`);
      context.set('Link', `<${successor}>; rel="successor-version"`);
    }
    await next();
  };
}
