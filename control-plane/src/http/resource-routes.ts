import { derivedId, newId } from '@adsweep/shared/ids.ts';
import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { OutboxEntry } from '../platform/outbox/outbox-entry.ts';
import { notFound } from './api-error.ts';
import { type Caller, isOperator, type RoutePermission } from './caller.ts';
import type { ErrorCode } from './errors.ts';
import {
  afterOf,
  type CursorPosition,
  type CursorQuery,
  cursorIssues,
  cursorPageSchema,
  cursorQuery,
  nextCursor,
  type PageQuery,
  pageQuery,
  pageSchema,
  presentPage,
  rowsOf,
} from './page.ts';
import type { BodyBounds } from './read-body.ts';
import { type Incoming, type Route, route, type ValidPart } from './route.ts';

/**
 * Returns the function that turns a record into the JSON of a response. Called once per request: it can load what all
 * items of a list need.
 */
type Presenter<T> = (caller: Caller) => Maybe<(record: T) => unknown>;

/** What all routes of a resource have in common. */
export type ResourceDescription<T> = {
  /** The group of its routes in the API reference. */
  group: string;
  /** Path of the collection. Parameters in it, such as `{id}`, are in `params` of every request. */
  path: string;
  /** The last path parameter of one item; null: there is one item per organization, at `path` itself. */
  id: { name: string; description?: string } | null;
  /** The name of an item in 404 responses, such as `API key`. */
  noun: string;
  permission: RoutePermission | { read: RoutePermission; write: RoutePermission };
  /** Schema of one item in responses. */
  schema: TSchema;
  presenter: Presenter<T>;
  /** Called after each successful write, such as to wake the outbox loop. */
  written?: () => void;
};

/** A validated request, as the functions of a resource get it. */
export type ResourceRequest<Q = unknown, B = unknown> = {
  caller: Caller;
  organizationId: string;
  /** The item's id: from the path, or the id of the item to be created. */
  id: string;
  params: Record<string, string>;
  query: Q;
  body: B;
  now: Date;
  /**
   * Returns an audit log entry, to be written in the same update as the change. `action` is `<noun>.<past participle>`,
   * `subjectId` the id of the changed record, `changes` the new values, never a secret.
   */
  audit(action: `${string}.${string}`, subjectId: string, changes: Record<string, unknown>): OutboxEntry<'audit'>;
};

/**
 * What differs between the routes of a resource; `reply` describes the successful response. Routes with a path
 * parameter have `not_found` among their errors.
 */
type Operation<Q extends TProperties, B extends TSchema> = {
  summary: string;
  description?: string;
  reply: string;
  /** Overrides the resource's permission. */
  permission?: RoutePermission;
  query?: Q;
  body?: B;
  bodyBounds?: BodyBounds;
  bodyIsOptional?: boolean;
  answersSecret?: boolean;
  errors?: readonly ErrorCode[];
  refine?(request: ValidPart<Caller, Partial<Static<B>>, Partial<Static<TObject<Q>>>>): Issue[] | Promise<Issue[]>;
};
/** Overrides the resource's schema and presenter: for a detailed item, or one with a secret. */
type OwnResponse<R> = { schema?: TSchema; presenter?: Presenter<R> };

type Request<Q extends TProperties, B extends TSchema = TSchema> = ResourceRequest<Static<TObject<Q>>, Static<B>>;
type Maybe<T> = T | Promise<T>;
type None = Record<never, never>;
/** The position of a page in its list: the rows after a position (null: from the first), without the first `skip`. */
type Window = { after: CursorPosition | null; skip: number; limit: number };
/**
 * The rows of a page, the number of rows in the list, and of a list with cursors the position of the page's last row;
 * null: no rows follow.
 */
type Page<T> = { rows: T[]; total: number; last?: CursorPosition | null };

/**
 * Defines the routes of a resource: one function per kind of route. A resource is then the list of its routes, in the
 * order of the API reference:
 *
 * ```ts
 * const notes = resource<Note>({ group: 'Notes', path: '/api/v1/notes', id: { name: 'id' }, noun: 'note', ... });
 * return [
 *   notes.page({ summary: 'Notes', reply: 'A page of notes.', rows: ({ organizationId }, window) => store.list(organizationId, window) }),
 *   notes.read({ summary: 'Read a note', reply: 'The note.', find: ({ organizationId, id }) => store.find(organizationId, id) }),
 * ];
 * ```
 *
 * `find`, `change`, `run`, and `rows` of a page return null if the item does not exist; the response is then 404.
 * Define other kinds of routes with {@link route}.
 */
export function resource<T>(of: ResourceDescription<T>) {
  const itemPath = of.id ? `${of.path}/{${of.id.name}}` : of.path;
  const define = routeDefiner(of);

  return {
    /** `GET` of the whole collection. */
    list<Q extends TProperties = None>({
      rows,
      ...operation
    }: Operation<Q, never> & { rows: (request: Request<Q>) => Maybe<T[]> }): Route<Caller> {
      const success = { status: 200, schema: Type.Array(of.schema) };
      return define('GET', of.path, operation, success, async (request) => {
        const [all, present] = await Promise.all([rows(request), of.presenter(request.caller)]);
        return presentAll(all, present);
      });
    },

    /**
     * `GET` of one page of the collection. `hasCursors`: the list is ordered by time, newest first, and can be read by
     * cursors too.
     */
    page<Q extends TProperties = None>({
      rows,
      query,
      hasCursors = false,
      refine,
      ...operation
    }: Operation<Q, never> & {
      hasCursors?: boolean;
      rows: (request: Request<Q>, window: Window) => Promise<Page<T> | null>;
    }): Route<Caller> {
      // `rows` gets the page as `window`, so its parameters are missing in the type of its query.
      const paged = {
        ...operation,
        query: { ...query, ...pageQuery, ...(hasCursors && cursorQuery) },
        refine: async (request: Parameters<NonNullable<typeof refine>>[0]) => [
          ...cursorIssues({ ...request, path: of.path }),
          ...((await refine?.(request)) ?? []),
        ],
      } as unknown as Operation<Q, never>;
      const success = { status: 200, schema: (hasCursors ? cursorPageSchema : pageSchema)(of.schema) };
      return define('GET', of.path, paged, success, async (request) => {
        const requested = request.query as PageQuery & CursorQuery;
        const window = { ...rowsOf(requested), after: afterOf(requested) };
        const [page, present] = await Promise.all([rows(request, window), of.presenter(request.caller)]);
        if (!page) return null;
        const { total, last } = page;
        const envelope = presentPage(await presentAll(page.rows, present), total, requested);
        return hasCursors ? { ...envelope, next_cursor: nextCursor(last, { ...request, path: of.path }) } : envelope;
      });
    },

    /** `POST` to the collection: `create` stores and returns an item with the request's `id`. */
    create<B extends TSchema, Q extends TProperties = None, R = T>({
      create,
      schema = of.schema,
      presenter = of.presenter as Presenter<unknown>,
      ...operation
    }: Operation<Q, B> & OwnResponse<R> & { create: (request: Request<Q, B>) => Maybe<R> }): Route<Caller> {
      return define('POST', of.path, operation, { status: 201, schema }, async (request) => {
        const item = await create(request);
        return (await presenter(request.caller))(item);
      });
    },

    /** `GET` of an item. */
    read<R = T>({
      find,
      schema = of.schema,
      presenter = of.presenter as Presenter<unknown>,
      ...operation
    }: Operation<None, never> & OwnResponse<R> & { find: (request: Request<None>) => Maybe<R | null> }): Route<Caller> {
      return define('GET', itemPath, operation, { status: 200, schema }, async (request) => {
        const item = await find(request);
        return item === null ? null : (await presenter(request.caller))(item);
      });
    },

    /** `PATCH` or `PUT` of an item: `change` returns the changed item. */
    change<B extends TSchema>({
      change,
      method = 'PATCH',
      ...operation
    }: Operation<None, B> & {
      method?: 'PATCH' | 'PUT';
      change: (request: Request<None, B>) => Maybe<T | null>;
    }): Route<Caller> {
      return define(method, itemPath, operation, { status: 200, schema: of.schema }, async (request) => {
        const item = await change(request);
        return item === null ? null : (await of.presenter(request.caller))(item);
      });
    },

    /**
     * A write without a response body (204): `DELETE` of an item, or an action at the path `below` it, such as
     * `archive`.
     */
    command<B extends TSchema>({
      run,
      method,
      below,
      ...operation
    }: Operation<None, B> & {
      method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      below?: string;
      run: (request: Request<None, B>) => Maybe<unknown>;
    }): Route<Caller> {
      return define(method, below ? `${itemPath}/${below}` : itemPath, operation, { status: 204 }, run);
    },
  };
}

const PRESENTED_AT_ONCE = 32;

/** Presents the items of a list, some at a time, so that a long list does not block others. */
async function presentAll<T>(all: T[], present: (record: T) => unknown): Promise<unknown[]> {
  const presented: unknown[] = [];
  for (let from = 0; from < all.length; from += PRESENTED_AT_ONCE) {
    presented.push(...(await Promise.all(all.slice(from, from + PRESENTED_AT_ONCE).map(present))));
    await pause();
  }
  return presented;
}

type Success = { status: number; schema?: TSchema };

/** Adds to a route what all routes of the resource have in common. `answer` returns the response body; null: 404. */
function routeDefiner({ group, id, noun, permission: needed, written }: Omit<ResourceDescription<never>, 'presenter'>) {
  const permissions = typeof needed === 'string' ? { read: needed, write: needed } : needed;

  return <Q extends TProperties, B extends TSchema>(
    method: Route['method'],
    path: string,
    { query = {} as Q, reply, errors = [], ...operation }: Operation<Q, B>,
    { status, schema }: Success,
    answer: (request: Request<Q, B>) => unknown,
  ): Route<Caller> => {
    const params = paramsOf(path, id);
    const isRead = method === 'GET';
    return route<Caller, TObject, TObject<Q>, B>({
      method,
      path,
      group,
      permission: permissions[isRead ? 'read' : 'write'],
      params,
      query: Type.Object(query, { additionalProperties: false }),
      replies: { [status]: { description: reply, ...(schema && { schema }) } },
      errors: path.includes('{') ? ['not_found', ...errors] : errors,
      ...operation,
      handle: async (incoming) => {
        const body = await answer(requestOf(incoming, id?.name) as Request<Q, B>);
        if (body === null) throw notFound(noun);
        if (!isRead) written?.();
        return { status, ...(schema && { body }) };
      },
    });
  };
}

/** The schema of the parameters in a path; the item's id has the description that the resource defines. */
function paramsOf(path: string, id: ResourceDescription<never>['id']): TObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const described = (name: string) => (name === id?.name && id.description ? { description: id.description } : {});
  return Type.Object(
    Object.fromEntries(names.map((name) => [name, Type.String(described(name))])),
    names.length === 0 ? { additionalProperties: false } : {},
  );
}

function requestOf({ caller, params, query, body, recordId }: Incoming<Caller>, idName = ''): ResourceRequest {
  const [named, now] = [params as Record<string, string>, new Date()];
  return {
    caller,
    organizationId: caller.organizationId,
    params: named,
    query,
    body,
    now,
    id: named[idName] ?? recordId ?? newId(),
    audit: (action, subjectId, changes) => ({
      ...auditEntry(caller, now, action, subjectId, changes),
      // A request that is run again after an interruption makes one change.
      ...(recordId !== undefined && { id: derivedId(`${recordId}/${action}/${subjectId}`, 0) }),
    }),
  };
}

/** The entry of the audit log about a change; see `audit` of {@link ResourceRequest}. */
export const auditEntry = (
  caller: Caller,
  now: Date,
  ...[action, subject_id, changes]: Parameters<ResourceRequest['audit']>
): OutboxEntry<'audit'> => ({
  id: newId(),
  kind: 'audit',
  at: now,
  actor: actorOf(caller),
  action,
  subject_id,
  changes,
});

/** Who made a change, for the audit log. */
function actorOf(caller: Caller): OutboxEntry<'audit'>['actor'] {
  const { keyId: key_id, token } = caller;
  const kind = isOperator(caller) ? 'operator' : token ? 'oauth_client' : 'api_key';
  return { kind, key_id, ...(token && { client_id: token.clientId }) };
}
