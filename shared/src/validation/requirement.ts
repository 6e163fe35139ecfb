import type { TLocalizedValidationError } from 'typebox/error';

/** A requirement that a value does not meet: `type` and `ctx` for programs (spec 2.4), `msg` for people. */
export type Requirement = { type: string; msg: string; ctx?: Record<string, unknown> };

/**
 * The requirement of a schema keyword that was not met; `schema` has the keyword. Null: another error describes the
 * problem better.
 */
export function requirementOf(error: TLocalizedValidationError, schema: object): Requirement | null {
  switch (error.keyword) {
    case 'boolean':
      return { type: 'unexpected_field', msg: 'This field is not known here.' };
    case 'additionalProperties':
      return null;
    case 'type':
      return wrongType([error.params.type].flat(), schema);
    case 'enum':
      return oneOf(error.params.allowedValues);
    case 'const':
      return oneOf([error.params.allowedValue]);
    case 'minimum':
      return { type: 'greater_than_equal', msg: numberSentence(schema), ctx: { ge: error.params.limit } };
    case 'maximum':
      return { type: 'less_than_equal', msg: numberSentence(schema), ctx: { le: error.params.limit } };
    case 'pattern': {
      const pattern = String(error.params.pattern);
      const msg = pattern === '\\S' ? 'Must not be blank.' : `Must match the pattern ${pattern}.`;
      return { type: 'string_pattern_mismatch', msg, ctx: { pattern } };
    }
    case 'format':
      return { type: `${error.params.format}_invalid`, msg: `Must be a valid ${error.params.format}.` };
    case '~refine':
      return { type: 'value_error', msg: error.params.message };
    default:
      return sizeRequirement(error) ?? { type: 'value_error', msg: 'This value is not accepted.' };
  }
}

function sizeRequirement(error: TLocalizedValidationError): Requirement | null {
  switch (error.keyword) {
    case 'minLength':
      return atLeast('string_too_short', error.params.limit, 'character');
    case 'maxLength':
      return atMost('string_too_long', error.params.limit, 'character');
    case 'minItems':
      return atLeast('too_short', error.params.limit, 'item');
    case 'maxItems':
      return atMost('too_long', error.params.limit, 'item');
    case 'minProperties':
      return atLeast('too_short', error.params.limit, 'field');
    case 'maxProperties':
      return atMost('too_long', error.params.limit, 'field');
    default:
      return null;
  }
}

const atLeast = (type: string, limit: number, unit: string): Requirement => ({
  type,
  msg: `Must have at least ${counted(limit, unit)}.`,
  ctx: { min_length: limit },
});

const atMost = (type: string, limit: number, unit: string): Requirement => ({
  type,
  msg: `Must have at most ${counted(limit, unit)}.`,
  ctx: { max_length: limit },
});

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

const TYPE_WORDS: Record<string, [type: string, word: string]> = {
  string: ['string_type', 'a string'],
  integer: ['int_type', 'an integer'],
  number: ['float_type', 'a number'],
  boolean: ['bool_type', 'true or false'],
  object: ['object_type', 'an object'],
  array: ['list_type', 'a list'],
  null: ['null_type', 'null'],
};

/** The requirement of a value that has none of these types; `schema` has the range of a number. */
export function wrongType(types: string[], schema: object = {}): Requirement {
  const type = TYPE_WORDS[types[0] ?? '']?.[0] ?? 'value_error';
  const isNumber = types.length === 1 && (types[0] === 'integer' || types[0] === 'number');
  const words = types.map((name) => TYPE_WORDS[name]?.[1] ?? name);
  return { type, msg: isNumber ? numberSentence(schema) : `Must be ${words.join(' or ')}.` };
}

/** One sentence for all requirements of a number: its type with its whole range. */
function numberSentence(schema: { type?: string; minimum?: number; maximum?: number }): string {
  const { type = 'number', minimum, maximum } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? ` from ${minimum} to ${maximum}`
      : minimum !== undefined
        ? ` of at least ${minimum}`
        : maximum !== undefined
          ? ` of at most ${maximum}`
          : '';
  return `Must be ${TYPE_WORDS[type]?.[1] ?? 'a number'}${range}.`;
}

export function oneOf(values: readonly unknown[]): Requirement {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return { type: 'enum', msg: `Must be ${values.length === 1 ? '' : 'one of '}${list}.`, ctx: { expected: values } };
}
