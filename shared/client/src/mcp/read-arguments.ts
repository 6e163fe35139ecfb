import { OPERATIONS } from '../generated/operations.ts';
import type { OperationId } from '../methods.ts';
import type { Operation } from '../operation.ts';
import { hasPages, isKeyed, PAGE_ROWS_MAX, type Tool, takesLabels, WAIT_SECONDS_MAX, WAITING } from './tools.ts';

/** The width in pixels of a picture whose width was not asked for: enough to read a page by. */
const PICTURE_WIDTH = 640;

/** The arguments of a tool by where they go in the request. */
export type Request = {
  ids: unknown[];
  query: Record<string, unknown>;
  body: unknown;
  /** What makes the call safe to repeat; null: it was sent without. */
  idempotencyKey: string | null;
  /** How long to wait for the end of the work; 0: not at all. */
  waitSeconds: number;
};

/** Throws a `TypeError` for an argument that the tool does not have, or an id that is missing. The API checks the rest. Pure. */
export function readArguments({ listed, places, hasWholeBody }: Tool, sent: Record<string, unknown>): Request {
  const { wait_seconds, idempotency_key, ...given } = sent;
  const [query, body, ids]: Record<string, unknown>[] = [{}, {}, {}];
  for (const [name, value] of Object.entries(given)) {
    const isLabel = name.startsWith('label_') && takesLabels(places);
    const place = isLabel ? 'query' : Object.hasOwn(places, name) ? places[name] : undefined;
    if (place === undefined) throw new TypeError(`no such argument: ${name}; ${argumentNames(places)}`);
    if (name === 'limit' && hasPages(places) && Number(value) > PAGE_ROWS_MAX)
      throw new TypeError(`limit is at most ${PAGE_ROWS_MAX}: ask for further pages`);
    const target = place === 'path' ? ids! : place === 'query' ? query! : body!;
    target[name] = value;
  }
  if ('w' in places) query!.w ??= PICTURE_WIDTH;
  return {
    ids: idNames(listed.name).map((name) => idOf(name, ids![name])),
    query: query!,
    body: hasWholeBody ? body!.body : body,
    idempotencyKey: keyOf(listed.name, idempotency_key),
    waitSeconds: secondsOf(listed.name, wait_seconds),
  };
}

const idNames = (name: OperationId): string[] =>
  [...OPERATIONS[name].path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id as string);

/** The path and query by which the answer to a request can be had again, below the URL of the API; null: the operation does something. Pure. */
export const pathToRead = (name: OperationId, request: Request): string | null =>
  OPERATIONS[name].method === 'GET' ? requestPath(name === 'getScanEvents' ? 'getScan' : name, request) : null;

/** The path and query of a request. */
function requestPath(name: OperationId, { ids, query }: Request): string {
  const [names, operation] = [idNames(name), OPERATIONS[name] as Operation];
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id) => encodeURIComponent(String(ids[names.indexOf(id)])));
  // As the client sends them: without those that are null, and a list as several.
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value ?? []].flat().map((one): [string, string] => [key, String(one)]),
  );
  const search = new URLSearchParams(pairs).toString();
  return search === '' ? path : `${path}?${search}`;
}

const argumentNames = (places: Tool['places']): string =>
  Object.keys(places).length === 0 ? 'it has none' : `it has ${Object.keys(places).join(', ')}`;

function idOf(name: string, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value === '') throw new TypeError(`the argument ${name} is missing`);
  return value;
}

function keyOf(name: OperationId, given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (!isKeyed(name)) throw new TypeError('no such argument: idempotency_key');
  // It is a header, which takes these alone.
  if (typeof given !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(given))
    throw new TypeError('idempotency_key is a text of 1 to 255 ASCII characters');
  return given;
}

function secondsOf(name: OperationId, given: unknown): number {
  if (!WAITING.has(name)) {
    if (given !== undefined) throw new TypeError('no such argument: wait_seconds');
    return 0;
  }
  const seconds = given ?? (name === 'getScanEvents' ? WAIT_SECONDS_MAX : 0);
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= WAIT_SECONDS_MAX))
    throw new TypeError(`wait_seconds is a number from 0 to ${WAIT_SECONDS_MAX}`);
  return seconds;
}
