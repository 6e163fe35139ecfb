import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { seal, unseal } from '../platform/seal.ts';
import { ApiError, refused } from './api-error.ts';
import { type Caller, credentialOf } from './caller.ts';
import type { IdempotencyStore, StoredAnswer } from './idempotency-store.ts';
import { packAnswer, unpackAnswer } from './packed-answer.ts';
import type { Answer, Incoming, Route } from './route.ts';

const KEY_LENGTH_MAX = 255;
const LENGTH_RULE = `Must have 1 to ${KEY_LENGTH_MAX} characters.`;
const HEADER = 'Idempotency-Key';
const ERRORS = ['idempotency.key_reused', 'idempotency.in_progress', 'storage.quota_exhausted'] as const;

const HeaderSchema = Type.Object({
  [HEADER]: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: KEY_LENGTH_MAX,
      description:
        'Makes a request safe to repeat: the same key with the same body within 24 hours returns the first response and changes nothing.',
    }),
  ),
});

/**
 * Reserves some of the bytes of answers that an organization may store in a day, and throws if none are left. Returns
 * the function that gives back unused ones.
 */
export type TakeAnswerBytes = (organizationId: string, bytes: number) => Promise<(unused: number) => void>;

export type IdempotencyParts = { store: IdempotencyStore; takeAnswerBytes: TakeAnswerBytes };

/** Bytes that are reserved before a request is run. Nearly all answers are shorter. */
const RESERVED_BYTES = 64 * 1024;

/**
 * Wraps the routes that create something, or define `runsOnce`, so that they run once per `Idempotency-Key`. Returns
 * all routes.
 */
export function runOnceForKeys(routes: Route<Caller>[], parts: IdempotencyParts): Route<Caller>[] {
  return routes.map((one) => {
    const creates = one.method === 'POST' && 201 in one.replies;
    return creates || one.runsOnce ? idempotent(parts, one) : one;
  });
}

/**
 * Runs a route once for each `Idempotency-Key` of an API key and path within 24 hours: the same body gets the stored
 * response with `Idempotency-Replayed: true`, another body is refused, and so is a second request while the first runs.
 * Error responses are not stored: after a refusal the key is free, unless the request was run again after an
 * interruption, or is partly done. A response with a secret is encrypted with the `Idempotency-Key`. `recordId` is the
 * id that the handler must give to the record it creates.
 */
function idempotent(parts: IdempotencyParts, route: Route<Caller>): Route<Caller> {
  return {
    ...route,
    headers: HeaderSchema,
    errors: [...new Set([...route.errors, ...ERRORS])],
    earlierAnswer: async (request) => {
      const key = keyOf(route, request);
      if (key === null) return null;
      const earlier = await parts.store.answered(idempotencyScope(route, request), key, new Date());
      if (!earlier) return null;
      const sent = sentIn(request);
      if (earlier.fingerprint !== fingerprintOf(sent)) throw keyReused();
      return answerAgain(earlier.answer, key, route, sent);
    },
    handle: async (request) => {
      const key = keyOf(route, request);
      return key === null ? route.handle(request) : once(parts, key, route, request);
    },
  };
}

/**
 * The `Idempotency-Key` of a request; null: it has none, or need not run only once. Throws 422 for a key that is none.
 */
function keyOf({ runsOnce }: Route<Caller>, request: Incoming<Caller>): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length < 1 || key.length > KEY_LENGTH_MAX)
    throw refusedKey('string_length', LENGTH_RULE);
  return runsOnce && !runsOnce(request) ? null : key;
}

/** What two requests with the same key must have in common. */
const sentIn = ({ query, params, body }: Incoming<Caller>): Buffer =>
  Buffer.from(JSON.stringify([query, params, body], sortKeys));

const fingerprintOf = (sent: Buffer): string => createHash('sha256').update(sent).digest('hex');

/**
 * The scope within which an `Idempotency-Key` is unique: one credential, method and path with its ids. Another
 * credential of the organization may have fewer permissions, so it never gets a response that was stored for this one.
 */
export function idempotencyScope(
  { method, path }: Pick<Route<Caller>, 'method' | 'path'>,
  { caller, params }: Pick<Incoming<Caller>, 'caller' | 'params'>,
): string {
  const ids = params as Record<string, string>;
  return `${credentialOf(caller)} ${method} ${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!))}`;
}

async function once(
  { store, takeAnswerBytes }: IdempotencyParts,
  key: string,
  route: Route<Caller>,
  request: Incoming<Caller>,
): Promise<Answer> {
  const scope = idempotencyScope(route, request);
  const sent = sentIn(request);
  const begun = await store.begin(scope, key, fingerprintOf(sent), new Date());
  if (begun.run) {
    const protect = async (answer: string) => {
      const text = await packAnswer(answer, sent);
      return route.answersSecret ? seal(keyFrom(key), text) : text;
    };
    return run({ store, takeAnswerBytes }, { scope, key, protect }, { ...request, recordId: begun.recordId }, route);
  }
  if ('answer' in begun) return answerAgain(begun.answer, key, route, sent);
  if (begun.refusal === 'key_reused') throw keyReused();
  const headers = { 'Retry-After': '1' };
  throw new ApiError('idempotency.in_progress', 'The first request with this key is still running.', { headers });
}

/** The stored response, for a request that has sent the same. */
async function answerAgain(
  { status, body }: StoredAnswer,
  key: string,
  { answersSecret }: Route<Caller>,
  sent: Buffer,
): Promise<Answer> {
  const text = await unpackAnswer(answersSecret ? unseal(keyFrom(key), body) : body, sent);
  return { status, body: JSON.parse(text), headers: { 'Idempotency-Replayed': 'true' } };
}

const keyReused = (): ApiError => refusedKey('key_reused', 'This key was sent before with another body.');

type Once = { scope: string; key: string; protect: (answer: string) => Promise<string> };

async function run(
  { store, takeAnswerBytes }: IdempotencyParts,
  { scope, key, protect }: Once,
  request: Incoming<Caller>,
  route: Route<Caller>,
): Promise<Answer> {
  let giveBack: (unused: number) => void = () => undefined;
  let unused = RESERVED_BYTES;
  try {
    giveBack = await takeAnswerBytes(request.caller.organizationId, RESERVED_BYTES);
    const answer = await route.handle(request);
    const body = await protect(JSON.stringify(answer.body));
    await store.finish(scope, key, { status: answer.status, body });
    unused -= body.length;
    return answer;
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.isRefusal;
    await (isRefusal ? store.refuse(scope, key) : store.interrupt(scope, key));
    throw error;
  } finally {
    // Negative for an answer that is longer than what was reserved: then more is taken.
    giveBack(unused);
  }
}

function refusedKey(type: string, msg: string): ApiError {
  return refused([{ loc: ['header', HEADER], msg, type, ctx: {} }]);
}

/**
 * A `JSON.stringify` replacer that sorts the keys of objects: client libraries may order the fields of equal bodies
 * differently.
 */
function sortKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A response is encrypted with a key derived from the `Idempotency-Key` that asks for it again. */
const keyFrom = (key: string): Buffer => createHash('sha256').update(`idempotency answer\n${key}`).digest();
