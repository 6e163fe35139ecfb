import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import type { Route } from '../../http/route.ts';

/** Whether an organization may create anything. */
export type IsActive = (organizationId: string) => Promise<boolean>;

/**
 * The operations, with those that create something refused where the organization is not active: 403 `billing.suspended`. Those that name
 * this error themselves are left alone; the operator creates organizations whatever the state of its own.
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
