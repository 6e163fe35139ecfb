import type { Context } from 'koa';
import { ApiError } from './api-error.ts';

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
