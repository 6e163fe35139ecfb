import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TNull, type TObject, type TSchema, type TUnion, Type } from 'typebox';
import type { RoutePermission } from './caller.ts';
import type { ErrorCode } from './errors.ts';
import type { BodyBounds } from './read-body.ts';

/** A handler's input, already validated. `stream` is the request itself, unread if the route has no `body`. */
export type Incoming<Caller, P = unknown, Q = unknown, B = unknown> = {
  caller: Caller;
  params: P;
  query: Q;
  body: B;
  headers: IncomingHttpHeaders;
  stream: IncomingMessage;
  /** The id that what is created must have, where the client marked its request with an `Idempotency-Key`. */
  recordId?: string;
};

/** `body` is sent as JSON, or as it is where it is a string, a Buffer or a stream (`type` then says what it is). */
export type Answer = { status: number; body?: unknown; type?: string; headers?: Record<string, string> };

/** The body of a response with one status: a JSON schema, or bytes of a content type; null: no body. */
export type Reply = { description: string; schema?: TSchema; content?: string };

/**
 * An operation as data: what is checked, what is documented and what is done come from the same value.
 * `path` writes parameters as `{id}`. `refine` finds problems the schema cannot say; it sees the valid part of the request, and its items are reported
 * together with the schema's.
 */
export type Route<Caller = unknown> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  group: string;
  summary: string;
  description: string;
  permission: RoutePermission;
  params: TObject;
  query: TObject;
  /** For the documentation alone: whoever reads a header checks it. */
  headers?: TObject;
  body: TSchema | null;
  bodyBounds?: BodyBounds;
  /** A list in the body: what is wrong with one of its items is told with its place, `rules[2]: ...`. */
  numberedItems?: string;
  /** The answer holds a secret that is kept nowhere else. */
  answersSecret?: boolean;
  replies: Record<number, Reply>;
  errors: readonly ErrorCode[];
  /** Whether a request with an `Idempotency-Key` is run once; absent: every one is, where the operation creates something. */
  runsOnce?(request: Incoming<Caller>): boolean;
  refine?(request: ValidPart<Caller>): Issue[] | Promise<Issue[]>;
  handle(request: Incoming<Caller>): Promise<Answer> | Answer;
};

/**
 * A request without what the schema refused of it. `refused` names the top-level body fields that were; it is null where the body is
 * no object at all.
 */
export type ValidPart<Caller, B = unknown, Q = unknown> = {
  caller: Caller;
  query: Q;
  body: B;
  refused: ReadonlySet<string> | null;
};

type Written<Caller, P extends TObject, Q extends TObject, B extends TSchema> = {
  method: Route['method'];
  path: string;
  group: string;
  summary: string;
  description?: string;
  permission: RoutePermission;
  params?: P;
  query?: Q;
  body?: B;
  bodyBounds?: BodyBounds;
  numberedItems?: string;
  answersSecret?: boolean;
  replies: Record<number, Reply>;
  errors?: readonly ErrorCode[];
  runsOnce?(request: Incoming<Caller, Static<P>, Static<Q>, Static<B>>): boolean;
  refine?(request: ValidPart<Caller, Partial<Static<B>>, Partial<Static<Q>>>): Issue[] | Promise<Issue[]>;
  handle(request: Incoming<Caller, Static<P>, Static<Q>, Static<B>>): Promise<Answer> | Answer;
};

const nothing = Type.Object({}, { additionalProperties: false });

/** Defines an operation; the handler's types follow from the schemas. */
export function route<
  Caller,
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends TSchema = TSchema,
>(written: Written<Caller, P, Q, B>): Route<Caller> {
  const filled = { description: '', params: nothing, query: nothing, body: null, errors: [], ...written };
  return filled as unknown as Route<Caller>;
}

/** The responses of handlers; errors are thrown. */
export const ok = (body: unknown, headers?: Record<string, string>): Answer => ({ status: 200, body, headers });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const noContent = (): Answer => ({ status: 204 });

/** A value of `schema`, or null. */
export const orNull = <S extends TSchema>(schema: S): TUnion<[S, TNull]> => Type.Union([schema, Type.Null()]);
