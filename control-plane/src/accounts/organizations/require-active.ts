import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import type { Route } from '../../http/route.ts';

/** Whether an organization is active: only then it may create anything. */
export type IsActive = (organizationId: string) => Promise<boolean>;

/**
 * Wraps the routes that create something, so that an organization that is not active gets 403 `billing.suspended`.
 * Returns all routes; unchanged are those that check this themselves (they list the error) and those of the operator,
 * whose own state does not matter.
 */
export function whereActive(routes: Route<Caller>[], isActive: IsActive): Route<Caller>[] {
  return routes.map((one) => (isGuarded(one) ? guarded(one, isActive) : one));
}

const isGuarded = ({ replies, errors, permission }: Route<Caller>): boolean =>
  201 in replies && permission !== 'organizations.manage' && !errors.includes('billing.suspended');

function guarded(route: Route<Caller>, isActive: IsActive): Route<Caller> {
  return {
    ...route,
    errors: [...route.errors, 'billing.suspended'],
    handle: async (request) => {
      if (!(await isActive(request.caller.organizationId)))
        throw new ApiError('billing.suspended', 'This organization is not active.');
      return route.handle(request);
    },
  };
}
