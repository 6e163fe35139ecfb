import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { describe, type SchemaError, valueAt } from './describe-schema-error.ts';
import type { Issue, Place } from './errors.ts';

/** Enough for every problem of an honest request; a bound for a hostile one. */
Settings.Set({ maxErrors: 1000 });

/** Answers what is wrong with a value. */
export type Check = (value: unknown) => Issue[];

/** Compiles a schema to a function that answers all problems of a value, each field once. */
export function compileCheck(schema: TSchema, place: Place): Check {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return [];
    const errors = validator.Errors(value) as SchemaError[];
    return errors.flatMap((error) => describe(error, errors, schema, value, place));
  };
}

/**
 * Query parameters as the schema wants them: texts become integers and booleans where they are written as such, `a=1&a=2` a list.
 * Repeated parameters that are no list stay a list, so that the check refuses them instead of choosing one.
 */
export function readQuery(schema: TObject, search: URLSearchParams): Record<string, unknown> {
  const typeOf = (name: string) =>
    Object.hasOwn(schema.properties, name) ? (schema.properties[name] as { type?: string }).type : undefined;
  const read = (name: string): unknown => {
    const values = search.getAll(name);
    if (typeOf(name) === 'array' || values.length > 1) return values;
    return readText(values[0] ?? '', typeOf(name));
  };
  return Object.fromEntries([...new Set(search.keys())].map((name) => [name, read(name)]));
}

function readText(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

/** A copy of `value` without the fields that `issues` name. */
export function withoutRefused(value: unknown, issues: Issue[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { loc } of issues) {
    const field = loc.at(-1);
    const owner = valueAt(copy, loc.slice(1, -1));
    if (loc.length > 1 && typeof owner === 'object' && owner !== null) Reflect.deleteProperty(owner, field!);
  }
  return copy;
}
