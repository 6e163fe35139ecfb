import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';
import { describe, type SchemaError, valueAt } from './describe-schema-error.ts';
import type { Issue, Place } from './errors.ts';

/** Enough for every problem of an honest request; a bound for a hostile one. */
Settings.Set({ maxErrors: 1000 });

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
 * Query parameters as the schema wants them: texts become integers and booleans, `a=1&a=2` a list. Repeated parameters that are no
 * list stay a list, so that the check refuses them instead of choosing one.
 */
export function readQuery(schema: TSchema, search: URLSearchParams): unknown {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  const raw: Record<string, unknown> = Object.create(null);
  for (const name of new Set(search.keys())) {
    const values = search.getAll(name);
    const isList = Object.hasOwn(properties, name) && properties[name]?.type === 'array';
    raw[name] = isList || values.length > 1 ? values : values[0];
  }
  return Value.Convert(schema, { ...raw });
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
