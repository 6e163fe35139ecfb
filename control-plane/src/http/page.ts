import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '@adsweep/shared/limits.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type TSchema, Type } from 'typebox';
import { orNull } from './route.ts';

/** The last page that can be requested. */
const PAGE_MAX = 1_000_000;

/** Query parameters of every paged list. */
export const pageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT })),
};

/** The requested page; by default the first one of the default size. */
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

/** The rows of a page. */
export function rowsOf({ page = 1, limit = PAGE_LIMIT_DEFAULT }: PageQuery): { skip: number; limit: number } {
  return { skip: (page - 1) * limit, limit };
}

/** The envelope of a page. */
export function presentPage<T>(items: T[], total: number, { page = 1, limit = PAGE_LIMIT_DEFAULT }: PageQuery) {
  return { items, total, page, limit, pages: Math.ceil(total / limit) };
}

/** The position of a row in a list that is ordered by time, newest first; a cursor is the position of a page's last row. */
export type CursorPosition = { at: Date; id: string };

/** Query parameters of a list with cursors. */
export type CursorQuery = { cursor?: string; page?: number };

const CURSOR_DESCRIPTION =
  '`next_cursor` of the previous page: returns the rows after it. Every page costs the same. Not together with `page`.';

/** The query parameter of a list with cursors. */
export const cursorQuery = {
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: CURSOR_DESCRIPTION })),
};

/** The envelope of a page of `item`s, and where the next one begins. */
export const cursorPageSchema = (item: TSchema) =>
  Type.Object({
    ...pageSchema(item).properties,
    next_cursor: orNull(Type.String({ description: 'The `cursor` of the next page; null on the last one.' })),
  });

/** The position after which a page begins; null: it begins with the list, or at the number of a page. */
export const afterOf = ({ cursor }: CursorQuery): CursorPosition | null =>
  cursor === undefined ? null : decodeCursor(cursor);

const ENCODED = /^(\d{1,15})\.([\x21-\x7e]{1,100})$/;

/** Encodes a position as an opaque text for clients. */
export const encodeCursor = ({ at, id }: CursorPosition): string =>
  Buffer.from(`${at.getTime()}.${id}`).toString('base64url');

/** The position in a cursor; null if the text is not a cursor. */
function decodeCursor(cursor: string): CursorPosition | null {
  const [, at, id] = ENCODED.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (at === undefined || id === undefined) return null;
  const position = { at: new Date(Number(at)), id };
  return encodeCursor(position) === cursor ? position : null;
}

/** Issues beyond the schema: an invalid cursor, or a cursor together with a page. */
export function cursorIssues({ cursor, page }: CursorQuery): Issue[] {
  if (cursor === undefined) return [];
  const issues: Issue[] = [];
  const issue = (field: string, type: string, msg: string, value: unknown) =>
    issues.push({ loc: ['query', field], msg, type, ctx: given(value) });
  if (!decodeCursor(cursor)) issue('cursor', 'invalid_cursor', 'Must be the next_cursor of a page.', cursor);
  if (page !== undefined) issue('page', 'invalid_combination', 'Send either page or cursor.', page);
  return issues;
}
