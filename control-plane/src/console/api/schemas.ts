import type { components } from '../../../../shared/client/src/generated/api.ts';

/** The bodies and answers of the API by their names in its OpenAPI document. */
export type Schemas = components['schemas'];

/** A page of a list. */
export type Listed<T> = { items: T[]; total: number; page: number; limit: number; pages: number };

/** The items of a list, whole or a page of it. */
export const itemsOf = <T>(found: T[] | { items: T[] }): T[] => (Array.isArray(found) ? found : found.items);
