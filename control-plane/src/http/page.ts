import { createHash } from 'node:crypto';
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

/**
 * The position of a row in a list that is ordered by time, newest first; a cursor is the position of a page's last row.
 */
export type CursorPosition = { at: Date; id: string };

/** Query parameters of a list with cursors. */
export type CursorQuery = { cursor?: string; page?: number };

const CURSOR_DESCRIPTION =
  '`next_cursor` of the previous page: returns the rows after it. Every page costs the same. Send the same filters as for that page, and no `page`.';

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

/** A request for a page of a list: `path` and `params` are those of its route. */
type RequestOfPage = { caller: { organizationId: string }; path: string; params: unknown; query: CursorQuery };

/** The parameters that choose a page of a list; all others choose its rows. */
const OF_PAGE = new Set(['cursor', 'page', 'limit']);
const FINGERPRINT_LENGTH = 8;

/**
 * The fingerprint of the list that a request is for: of its organization, its path and its filters. A cursor has that
 * of its list: in any other one, the rows before its position would be missing.
 */
function fingerprintOf({ caller, path, params, query }: RequestOfPage): string {
  const filters = Object.entries(query).filter(([name]) => !OF_PAGE.has(name));
  const list = [caller.organizationId, path, params, filters.sort(([one], [other]) => (one < other ? -1 : 1))];
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, FINGERPRINT_LENGTH);
}

/** The fingerprint of the list, the time and the id. */
const ENCODED = new RegExp(`^([\\w-]{${FINGERPRINT_LENGTH}})\\.(\\d{1,15})\\.([\\x21-\\x7e]{1,100})$`);

const encodeCursor = (list: string, { at, id }: CursorPosition): string =>
  Buffer.from(`${list}.${at.getTime()}.${id}`).toString('base64url');

/** The cursor after the last row of a page, an opaque text for clients; null: no rows follow. */
export const nextCursor = (last: CursorPosition | null | undefined, request: RequestOfPage): string | null =>
  last ? encodeCursor(fingerprintOf(request), last) : null;

/** The position in a cursor; null if the text is not a cursor. */
function decodeCursor(cursor: string): (CursorPosition & { list: string }) | null {
  const [, list, at, id] = ENCODED.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (list === undefined || at === undefined || id === undefined) return null;
  const position = { at: new Date(Number(at)), id };
  return encodeCursor(list, position) === cursor ? { ...position, list } : null;
}

/** Issues beyond the schema: a cursor that is invalid or of another list, or a cursor together with a page. */
export function cursorIssues(request: RequestOfPage): Issue[] {
  const { cursor, page } = request.query;
  if (cursor === undefined) return [];
  const issues: Issue[] = [];
  const issue = (field: string, type: string, msg: string, value: unknown) =>
    issues.push({ loc: ['query', field], msg, type, ctx: given(value) });
  if (decodeCursor(cursor)?.list !== fingerprintOf(request))
    issue('cursor', 'invalid_cursor', 'Must be the next_cursor of a page of this list with the same filters.', cursor);
  if (page !== undefined) issue('page', 'invalid_combination', 'Send either page or cursor.', page);
  return issues;
}
