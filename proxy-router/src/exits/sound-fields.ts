import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';

/** The fields of an object that have the right shape by themselves; {} for what is no object. Pure. */
export function soundFields<Schema extends TObject>(schema: Schema, value: unknown): Partial<Static<Schema>> {
  const isSound = ([name, field]: [string, unknown]) => {
    const own = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    return own !== undefined && Value.Check(own, field);
  };
  return Object.fromEntries(fieldsOf(value).filter(isSound)) as Partial<Static<Schema>>;
}

/** The names and values of an object; none for anything else. Pure. */
export const fieldsOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
