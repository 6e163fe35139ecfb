import { largestValues, type Schema } from './largest-value.ts';
import type { BenchRoute } from './route-table.ts';

/** Calls the API; returns the status and the body, null if there is none. */
export type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Json }>;
// biome-ignore lint/suspicious/noExplicitAny: answers of operations that are chosen at run time
type Json = any;

/** Records of one kind that are made, if the API takes so many, and how long that may take. */
const MADE_MAX = 1_000;
const MADE_WITHIN_MS = 15_000;
const WRITTEN_AT_ONCE = 8;
/** Larger values of a field are tried first. */
const MEMBERS = [2_000, 500, 250, 100, 50, 20, 5, 2];
const TEXTS = [32_768, 4_096, 2_048, 255, 100, 40];
const FIELD_BOUNDS = { bytes: 400_000, values: 4_000 };

/** Values that a field accepts beyond its schema, by its name: ids and codes that exist. */
export type FieldValues = Record<string, string[]>;

/** The operations that make what an organization keeps: a POST to the path of a list that answers 201. Scans are made apart. */
function makersOf(routes: BenchRoute[]): BenchRoute[] {
  const lists = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const isMaker = ({ method, path, body, replies }: BenchRoute) =>
    method === 'POST' && 201 in replies && body !== null && lists.has(path) && !path.startsWith('/api/v1/scans');
  return routes.filter((route) => isMaker(route) && !route.path.includes('{'));
}

/**
 * Makes as many records of each kind as the API takes (at most `MADE_MAX`), each as large as it may be. `callFor`: the call of who may do it.
 * `valuesOf` is asked before each kind. Returns how many were made of each path.
 */
export async function fillResources(
  routes: BenchRoute[],
  callFor: (route: BenchRoute) => Call,
  valuesOf: () => Promise<FieldValues>,
): Promise<Record<string, number>> {
  const made: Record<string, number> = {};
  for (const route of makersOf(routes)) {
    const call = callFor(route);
    let number = 0;
    const make = async (body: Body): Promise<boolean> => {
      const { status } = await call('POST', route.path, named(body, number++));
      if (status >= 300) return false;
      made[route.path] = (made[route.path] ?? 0) + 1;
      return true;
    };
    const body = await largestAccepted(route.body as Schema, await valuesOf(), make);
    const until = performance.now() + MADE_WITHIN_MS;
    while (body && (made[route.path] ?? 0) < MADE_MAX && performance.now() < until) {
      const taken = await Promise.all(Array.from({ length: WRITTEN_AT_ONCE }, () => make(body)));
      if (taken.includes(false)) break;
    }
  }
  return made;
}

type Body = Record<string, unknown>;

/** The body with names of its own: two records may not have the same. */
function named(body: Body, number: number): Body {
  const own = ['name', 'tag_slug'].filter((field) => typeof body[field] === 'string');
  return {
    ...body,
    ...Object.fromEntries(own.map((field) => [field, `${number}-${body[field]}`.slice(0, String(body[field]).length)])),
  };
}

/** Enlarges the example of a schema field by field, as far as `make` takes it; null: not even the example is taken. */
async function largestAccepted(
  { examples = [], properties = {} }: Schema,
  values: FieldValues,
  make: (body: Body) => Promise<boolean>,
): Promise<Body | null> {
  // Names of 20 characters have room for a number.
  let body: Body = { ...(examples[0] as Body), ...('name' in properties && { name: 'x'.repeat(20) }) };
  if (!(await make(body))) return null;
  for (const [field, schema] of Object.entries(properties))
    for (const value of candidatesOf(schema, field, body[field], values)) {
      const larger = { ...body, [field]: value };
      if (!(await make(larger))) continue;
      body = larger;
      break;
    }
  return body;
}

/** Values of a field, the largest first, each once: of what exists, of its example, and of its schema alone. */
function candidatesOf(schema: Schema, field: string, example: unknown, values: FieldValues): unknown[] {
  const grownOnes = MEMBERS.flatMap((members) =>
    TEXTS.map((text) => grown(schema, field, example, { members, text, values })),
  );
  const bySchema = Object.values(largestValues({ type: 'object', properties: { [field]: schema } }, FIELD_BOUNDS));
  const all = [...grownOnes, ...bySchema.map((value) => (value as Body | undefined)?.[field])];
  const bySize = all
    .filter((value) => value !== undefined)
    .map((value) => JSON.stringify(value))
    .filter((text) => text.length <= FIELD_BOUNDS.bytes);
  return [...new Set(bySize)].toSorted((one, other) => other.length - one.length).map((text) => JSON.parse(text));
}

type Growth = { members: number; text: number; values: FieldValues };

/** A value that is as large as `growth` says; undefined: there is no telling. `at`: its place in a list. */
function grown(schema: Schema, field: string, example: unknown, growth: Growth, at = 0): unknown {
  if (schema.anyOf) return grown(schema.anyOf.find(({ type }) => type !== 'null') ?? {}, field, example, growth, at);
  const known = growth.values[field];
  if (schema.type === 'array') {
    const length = Math.min(schema.maxItems ?? growth.members, growth.members);
    const items = schema.items ?? {};
    if (items.enum) return items.enum.slice(0, length);
    if (known) return known.slice(0, length);
    const [first] = (example as unknown[] | undefined) ?? [];
    const list = Array.from({ length }, (_, place) => grown(items, field, first, growth, place));
    return list.includes(undefined) ? undefined : list;
  }
  if (schema.type === 'object') {
    const members = Object.entries((example as Body | undefined) ?? {});
    const lists = Object.entries(schema.properties ?? {}).filter(([name]) => name in growth.values);
    const names = new Set([...members, ...lists].map(([name]) => name));
    if (names.size === 0) return undefined;
    const of = Object.fromEntries(members);
    return Object.fromEntries(
      [...names].map((name) => [name, grown(schema.properties?.[name] ?? {}, name, of[name], growth, at) ?? of[name]]),
    );
  }
  if (schema.type !== 'string') return undefined;
  if (known) return known[at % known.length];
  if (typeof example !== 'string' && schema.pattern) return undefined;
  const start = example === undefined ? `${at}` : `${example}${at === 0 ? '' : at}`;
  return start.padEnd(Math.min(schema.maxLength ?? growth.text, growth.text), 'x');
}
