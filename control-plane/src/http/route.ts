import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, type TNull, type TObject, type TSchema, type TUnion, Type } from 'typebox';
import type { RoutePermission } from './caller.ts';
import type { ErrorCode } from './errors.ts';
import type { BodyBounds, BodyOwner } from './read-body.ts';

/** A handler's input, already validated. `stream` is the request itself, unread if the route has no `body`. */
export type Incoming<Caller, P = unknown, Q = unknown, B = unknown> = {
  caller: Caller;
  params: P;
  query: Q;
  body: B;
  headers: IncomingHttpHeaders;
  stream: IncomingMessage;
  /** What `beforeBody` found that the request is about. */
  about?: unknown;
  /** The id of the record to be created, if the request has an `Idempotency-Key`. */
  recordId?: string;
};

/** A request whose body was not read. */
export type BodilessRequest<Caller, P = unknown> = Pick<Incoming<Caller, P>, 'caller' | 'params' | 'stream'>;

/**
 * A handler's response. `body` is sent as JSON; a string, a Buffer or a stream is sent unchanged, with `type` as its
 * content type. `unsent` is called if the connection ended before all of it was written, or another answer was sent.
 */
export type Answer = {
  status: number;
  body?: unknown;
  type?: string;
  headers?: Record<string, string>;
  unsent?: () => void;
};

/**
 * What is known of a request before its body is read: the answer to it, or with whose bodies its own is counted (null:
 * with those of its organization or address) and what it is about, which the handler gets.
 */
export type BeforeBody = { answer: Answer } | { sender: BodyOwner | null; about?: unknown };

/** The body of a response with one status: a JSON schema, or bytes of a content type; null: no body. */
export type Reply = { description: string; schema?: TSchema; content?: string };

/**
 * An operation as data: validation, documentation and behaviour come from one value. Parameters in `path` are written
 * as `{id}`. `refine` returns issues beyond the schema; it gets the valid part of the request, and its issues are
 * reported together with those of the schema.
 */
export type Route<Caller = unknown> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  group: string;
  /** Its name in generated clients; absent: it follows from method and path. */
  operationId?: string;
  summary: string;
  description: string;
  permission: RoutePermission;
  params: TObject;
  query: TObject;
  /** For the documentation only: the code that reads a header validates it. */
  headers?: TObject;
  body: TSchema | null;
  bodyBounds?: BodyBounds;
  /** A request without a body is one with `{}`. */
  bodyIsOptional?: boolean;
  /** Reads the bytes of a body that is not JSON alone. Absent: it is. */
  parseBody?: (bytes: Buffer, bounds: BodyBounds) => Promise<unknown>;
  /**
   * Looks at a request before its body is read; throws where the body does not matter. Its path was not validated yet.
   */
  beforeBody?(request: BodilessRequest<Caller>): Promise<BeforeBody>;
  /** Its work is short and a late answer does harm: requests are not queued behind other work of the event loop. */
  isUrgent?: boolean;
  /** A list in the body: messages about its items start with their index, `rules[2]: ...`. */
  numberedItems?: string;
  /** The response contains a secret that is stored nowhere else. */
  answersSecret?: boolean;
  replies: Record<number, Reply>;
  errors: readonly ErrorCode[];
  /**
   * Whether a request with an `Idempotency-Key` is run only once; absent: true if the operation creates something
   * (201).
   */
  runsOnce?(request: Incoming<Caller>): boolean;
  /**
   * The response to an earlier request that this one repeats; null: it repeats none. Asked before `refine`, which looks
   * up what may have changed since.
   */
  earlierAnswer?(request: Incoming<Caller>): Promise<Answer | null>;
  refine?(request: ValidPart<Caller>): Issue[] | Promise<Issue[]>;
  handle(request: Incoming<Caller>): Promise<Answer> | Answer;
};

/**
 * A request without the fields that the schema refused. `refused`: the names of refused top-level body fields; null if
 * the body is not an object.
 */
export type ValidPart<Caller, B = unknown, Q = unknown> = {
  caller: Caller;
  params: Record<string, string>;
  query: Q;
  body: B;
  refused: ReadonlySet<string> | null;
};

type AsWritten =
  | ('method' | 'path' | 'group' | 'operationId' | 'summary' | 'permission' | 'replies')
  | ('bodyBounds' | 'bodyIsOptional' | 'parseBody' | 'isUrgent' | 'numberedItems' | 'answersSecret');

type Written<Caller, P extends TObject, Q extends TObject, B extends TSchema> = Pick<Route, AsWritten> & {
  description?: string;
  params?: P;
  query?: Q;
  body?: B;
  errors?: readonly ErrorCode[];
  beforeBody?(request: BodilessRequest<Caller, Static<P>>): Promise<BeforeBody>;
  runsOnce?(request: Incoming<Caller, Static<P>, Static<Q>, Static<B>>): boolean;
  refine?(request: ValidPart<Caller, Partial<Static<B>>, Partial<Static<Q>>>): Issue[] | Promise<Issue[]>;
  handle(request: Incoming<Caller, Static<P>, Static<Q>, Static<B>>): Promise<Answer> | Answer;
};

const nothing = Type.Object({}, { additionalProperties: false });

/** A path as the router compares it: in any letter case, with or without a slash at its end. */
export const comparablePath = (path: string): string => path.toLowerCase().replace(/(?<=.)\/$/, '');

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

/** A time (ISO 8601). */
export const moment = (description?: string) =>
  Type.String({ format: 'date-time', ...(description && { description }) });

/** A value of `schema`, or null. */
export const orNull = <S extends TSchema>(schema: S): TUnion<[S, TNull]> => Type.Union([schema, Type.Null()]);
