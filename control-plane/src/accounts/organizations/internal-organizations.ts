import type { OrganizationStore } from './organization-store.ts';

/** What else within the accounts asks of the organizations. */
export type InternalOrganizations = Pick<OrganizationStore, 'find' | 'change' | 'addRole'>;
