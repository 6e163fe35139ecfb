import type { components } from '../../../../shared/client/src/generated/api.ts';

/** The bodies and answers of the API by their names in its OpenAPI document. */
export type Schemas = components['schemas'];

/** A page of a list. */
export type Listed<T> = { items: T[]; total: number; page: number; limit: number; pages: number };

const ROWS_SHOWN = 100;

/** The page of a list, of which the API answers with all items, that a query asks for. */
export function pageIn<T>(all: T[], query: URLSearchParams): Listed<T> {
  const pages = Math.max(1, Math.ceil(all.length / ROWS_SHOWN));
  const page = Math.min(pages, Math.max(1, Number.parseInt(query.get('page') ?? '', 10) || 1));
  const items = all.slice((page - 1) * ROWS_SHOWN, page * ROWS_SHOWN);
  return { items, total: all.length, page, limit: ROWS_SHOWN, pages };
}

/** The items of a list, whole or a page of it. */
export const itemsOf = <T>(found: T[] | { items: T[] }): T[] => (Array.isArray(found) ? found : found.items);
