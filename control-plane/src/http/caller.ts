import type { Permission } from './permissions.ts';

/** Whose request it is: every question to a store names this organization first. */
export type Caller = { organizationId: string; keyId: string; permissions: ReadonlySet<Permission> };
