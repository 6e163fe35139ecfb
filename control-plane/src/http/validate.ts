import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { valueAt } from '@adsweep/shared/validation/value-at.ts';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import Format from 'typebox/format';
import { Settings } from 'typebox/system';

/**
 * Maximum number of schema errors that are collected for a value. Several of them may be one problem, such as the
 * branches of a union.
 */
const ERRORS_MAX = 300;
Settings.Set({ maxErrors: ERRORS_MAX });

/**
 * RFC 3339, without what TypeBox accepts and `Date` cannot read: leap seconds, and the suffixes of RFC 9557
 * (`...Z[Europe/Lisbon]`).
 */
Format.Set('date-time', (text) => Format.IsDateTime(text) && !Number.isNaN(Date.parse(text)));

/** A validated part of a request: the first element of each `loc`. */
export type RequestPart = 'body' | 'query' | 'path';

/** The result of validating a value. `isWhole`: `issues` are all of them; false: validation stopped at the maximum. */
export type Validation = { issues: Issue[]; isWhole: boolean };
export type Validate = (value: unknown) => Validation;

/**
 * The routes of a process are served twice, over HTTP and to its console, and many share schemas: compiling all takes a
 * tenth of a second.
 */
const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

function compiledOf(schema: TSchema): ReturnType<typeof Compile> {
  const validator = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, validator);
  return validator;
}

/** Compiles a schema, once, to a function that returns the issues of a value, at most one per field. */
export function compileValidator(schema: TSchema, part: RequestPart): Validate {
  const validator = compiledOf(schema);
  return (value) => {
    if (validator.Check(value)) return { issues: [], isWhole: true };
    const errors = validator.Errors(value);
    return { issues: schemaIssues(errors, schema, value, [part]), isWhole: errors.length < ERRORS_MAX };
  };
}

/**
 * Converts query parameters to the types of the schema: integers, booleans, and lists (`a=1&a=2`). A text that cannot
 * be converted stays a text, and a repeated parameter becomes a list even if the schema has none, so that validation
 * refuses both.
 */
export function readQuery(schema: TObject, search: URLSearchParams): Record<string, unknown> {
  const typeOf = (name: string) =>
    Object.hasOwn(schema.properties, name) ? (schema.properties[name] as { type?: string }).type : undefined;
  const read = (name: string, values: string[]): unknown =>
    typeOf(name) === 'array' || values.length > 1 ? values : readText(values[0] ?? '', typeOf(name));
  const sent = Map.groupBy(search, ([name]) => name);
  return Object.fromEntries(
    [...sent].map(([name, pairs]) => [
      name,
      read(
        name,
        pairs.map(([, value]) => value),
      ),
    ]),
  );
}

function readText(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

/** A copy of `value` without the fields that `issues` name. */
export function withoutRefused(value: unknown, issues: Issue[]): unknown {
  if (issues.length === 0) return value;
  const copy: unknown = structuredClone(value);
  for (const { loc } of issues) {
    const field = loc.at(-1);
    const owner = valueAt(copy, loc.slice(1, -1));
    if (loc.length > 1 && typeof owner === 'object' && owner !== null) Reflect.deleteProperty(owner, field!);
  }
  return copy;
}
