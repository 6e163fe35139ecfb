/** What a request of an operation needs; `src/generated/operations.ts` has one for each. */
export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the names of its ids in braces. */
  path: string;
  group: string;
  summary: string;
  /** The names of its query parameters. */
  query: readonly string[];
  /** Whether it takes a JSON body. */
  body: boolean;
  /** Whether it runs once for each `Idempotency-Key`. */
  keyed: boolean;
  answer: 'json' | 'text' | 'blob' | 'events' | 'nothing';
};
