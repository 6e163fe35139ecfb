import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '@adsweep/shared/limits.ts';
import { type TSchema, Type } from 'typebox';

/** The last page that can be asked for. */
const PAGE_MAX = 1_000_000;

/** Query parameters of every paged list. */
export const pageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT })),
};

/** Which page is asked for; the first one of the usual size where nothing is said. */
export type PageQuery = { page?: number; limit?: number };

/** The envelope of a page of `item`s. */
export const pageSchema = (item: TSchema) =>
  Type.Object({
    items: Type.Array(item),
    total: Type.Integer(),
    page: Type.Integer(),
    limit: Type.Integer(),
    pages: Type.Integer(),
  });

/** Which rows a page holds. */
export function rowsOf({ page = 1, limit = PAGE_LIMIT_DEFAULT }: PageQuery): { skip: number; limit: number } {
  return { skip: (page - 1) * limit, limit };
}

/** The envelope of a page. */
export function presentPage<T>(items: T[], total: number, { page = 1, limit = PAGE_LIMIT_DEFAULT }: PageQuery) {
  return { items, total, page, limit, pages: Math.ceil(total / limit) };
}
