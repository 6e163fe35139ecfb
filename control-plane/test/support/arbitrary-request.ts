import fc from 'fast-check';
import type { Route } from '../../src/http/route.ts';

type Schema = {
  type?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  examples?: object[];
};

export type ArbitraryRequest = { path: string; headers: Record<string, string>; body: string | undefined };

/** Texts that get a request further than random ones do. */
const KNOWN = ['US', 'pt', 'windows_chrome', 'Texas', 'https://shop.example/a?b=c', '<b>ad</b>', 'completed', 'UTC'];
const textUpTo = (maxLength: number) =>
  fc.oneof(
    fc.constantFrom(...KNOWN),
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ maxLength }),
    fc.constantFrom('', '\u0000', '__proto__', '\ud800', 'x'.repeat(300), '2026-02-30', '-1', '1e999', '%', '\u202e'),
  );
/** By their length: making one takes fast-check several milliseconds, and a schema has many. */
const texts = new Map<number, fc.Arbitrary<string>>();
function text(maxLength = 40): fc.Arbitrary<string> {
  const most = Math.min(maxLength, 40);
  const made = texts.get(most) ?? textUpTo(most);
  texts.set(most, made);
  return made;
}

/** Values that a schema asks for, and now and then any other. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: validOf(schema) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: text() },
  );
}

function validOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(validOf));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  switch (schema.type) {
    case 'string':
      return stringsOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 4 });
    case 'object':
      return objectsOf(schema);
    default:
      return fc.constant(null);
  }
}

function stringsOf({ pattern, format, maxLength }: Schema): fc.Arbitrary<string> {
  if (pattern) return fc.stringMatching(new RegExp(pattern), { size: 'small' });
  if (format === 'date-time')
    return fc.constantFrom(
      '2026-01-31T10:00:00Z',
      '2099-12-31T23:59:60Z',
      '2099-01-01t00:00:00+23:59',
      '2099-01-01T00:00:00Z[UTC]',
    );
  if (format === 'date') return fc.constantFrom('2026-01-31', '2025-12-01', '0001-01-01', '9999-12-31');
  return text(maxLength);
}

function objectsOf({ properties, required = [], patternProperties, examples }: Schema): fc.Arbitrary<unknown> {
  if (!properties) {
    const [values = { type: 'string' }] = Object.values(patternProperties ?? {});
    return fc.dictionary(text(10), valuesOf(values), { maxKeys: 4 });
  }
  const record = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one)]));
  const names = Object.keys(record);
  const members = fc.record(record, { requiredKeys: required });
  // Few fields at a time, so that some requests are right.
  const few = (max: number) =>
    fc
      .tuple(members, fc.subarray(names, { maxLength: Math.min(max, names.length) }))
      .map(([all, kept]) => ({ all, kept }));
  const needed = few(5).map(({ all, kept }) => only(all, [...required, ...kept]));
  const changed = few(2).map(({ all, kept }) => ({ ...examples?.[0], ...only(all, kept) }));
  const more = fc.dictionary(text(10), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 });
  return fc.oneof(
    { weight: 4, arbitrary: examples ? changed : needed },
    { weight: 2, arbitrary: needed },
    { weight: 1, arbitrary: members },
    { weight: 1, arbitrary: fc.tuple(needed, more).map(([few, others]) => ({ ...few, ...others })) },
  );
}

const only = (all: object, names: string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));

const headerText = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 300,
});

/**
 * Requests to an operation: its path, query, headers and body as its schemas ask for them, or as they do not. `ids` are
 * there.
 */
export function requestsOf(route: Route<never>, ids: string[]): fc.Arbitrary<ArbitraryRequest> {
  const schemas = route as unknown as { params: Schema; query: Schema; body: Schema | null };
  const names = Object.keys(schemas.params.properties ?? {});
  const params = fc.tuple(...names.map(() => fc.oneof(fc.constantFrom(...ids, '0'), text())));
  const query = fc.oneof(objectsOf(schemas.query), fc.constant({}));
  const body = schemas.body
    ? fc.oneof(
        { weight: 5, arbitrary: valuesOf(schemas.body).map((value) => JSON.stringify(value)) },
        { weight: 1, arbitrary: text() },
      )
    : fc.constant(undefined);
  const headers = fc.record(
    {
      'idempotency-key': headerText,
      'if-none-match': headerText,
      range: headerText,
      'content-type': headerText,
      accept: headerText,
    },
    { requiredKeys: [] },
  );
  return fc.tuple(params, query, headers, body).map(([values, asked, sent, content]) => ({
    path:
      names.reduce((path, name, at) => path.replace(`{${name}}`, segment(values[at]!)), route.path) + queryText(asked),
    headers: sent as Record<string, string>,
    body: content,
  }));
}

/** A segment that a URL parser leaves where it is. */
const segment = (value: string): string =>
  ['', '.', '..'].includes(value) ? '0' : encodeURIComponent(value.toWellFormed());

function queryText(asked: unknown): string {
  const pairs = Object.entries(asked as object).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, typeof one === 'string' ? one : JSON.stringify(one)]),
  );
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([name, value]) => [name!.toWellFormed(), String(value).toWellFormed()]))}`;
}
