import type { operations } from './generated/api.ts';
import type { OPERATIONS } from './generated/operations.ts';

/** The types of the client's methods, derived from the generated types of the API. Nothing here exists at run time. */

export type OperationId = keyof typeof OPERATIONS;

/**
 * One operation: it takes the ids in its path, then its body (an operation without one: its query), then options. It rejects with an
 * `AdsweepError` if the API refuses it.
 */
export type Method<Id extends OperationId> = (<const O extends Options<Id>>(
  ...sent: Sent<Id, O>
) => Promise<Answer<Id, O>>) &
  (Answer<Id> extends { items: (infer Item)[]; page: number }
    ? {
        /** Every item of all pages, which are requested while the items are read. */
        each(...sent: Sent<Id>): AsyncGenerator<Item, void, void>;
      }
    : unknown);

/** Follows an operation that answers a stream of events. */
export type Stream<Id extends OperationId, Event> = (...sent: Sent<Id>) => AsyncGenerator<Event, void, void>;

export type Options<Id extends OperationId> = {
  signal?: AbortSignal;
  /** Makes a call that creates something safe to repeat for 24 hours; by default each call has a new one. Others ignore it. */
  idempotencyKey?: string;
  /** The query of an operation with a body, such as `{ dry_run: true }`. */
  query?: Query<Id>;
};

type Sent<Id extends OperationId, O = Options<Id>> = [
  ...Ids<(typeof OPERATIONS)[Id]['path']>,
  ...(operations[Id] extends { requestBody: Json<infer Body> }
    ? [body: Body, options?: O]
    : operations[Id] extends { requestBody?: Json<infer Body> }
      ? (typeof OPERATIONS)[Id]['body'] extends true
        ? [body?: Body, options?: O]
        : OfQuery<Id, O>
      : OfQuery<Id, O>),
];

type OfQuery<Id extends OperationId, O> =
  undefined extends Query<Id> ? [query?: Query<Id>, options?: O] : [query: Query<Id>, options?: O];

type Ids<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [id: string | number, ...Ids<Rest>]
  : [];

/** Lists take `label_<key>` besides the named parameters. */
type Query<Id extends OperationId> =
  | (NonNullable<operations[Id]['parameters']['query']> & { [label: `label_${string}`]: string })
  | (operations[Id]['parameters'] extends { query: object } ? never : undefined);

type Json<Value> = { content: { 'application/json': Value } };

/** What is answered. An operation that creates something answers it with 201, and an estimate with 200 for `dry_run`. */
export type Answer<Id extends OperationId, O = unknown> = O extends { query: { dry_run: true } }
  ? Content<Id, 200>
  : 201 extends keyof operations[Id]['responses']
    ? Content<Id, 201>
    : Content<Id, 200>;

type Content<Id extends OperationId, Status> = Status extends keyof operations[Id]['responses']
  ? operations[Id]['responses'][Status] extends Json<infer Value>
    ? Value
    : (typeof OPERATIONS)[Id]['answer'] extends 'text'
      ? string
      : Blob
  : undefined;
