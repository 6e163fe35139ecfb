import type { TSchema } from 'typebox';
import type { Issue, Place } from './errors.ts';

/** An error as TypeBox reports it; `instancePath` is a JSON pointer (RFC 6901). */
export type SchemaError = {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
};

type Words = { type: string; msg: string; ctx?: Record<string, unknown> };

/** The longest value, as JSON, that an answer echoes. */
const GIVEN_CHARACTERS_MAX = 8192;

/**
 * The items a schema error becomes; none where another error of the same place says it better (the branches of a union, the
 * summary beside each unexpected field).
 */
export function describe(
  error: SchemaError,
  all: SchemaError[],
  schema: TSchema,
  value: unknown,
  place: Place,
): Issue[] {
  const path = pathIn(value, pointerSteps(error.instancePath));
  if (error.keyword === 'required')
    return (error.params.requiredProperties as string[]).map((name) => ({
      loc: [place, ...path, name],
      msg: 'This field is required.',
      type: 'missing',
      ctx: {},
    }));
  const words = wordsFor(error, all, schema);
  return words
    ? [
        {
          loc: [place, ...path],
          msg: words.msg,
          type: words.type,
          ctx: { ...given(valueAt(value, path)), ...words.ctx },
        },
      ]
    : [];
}

/** `{ given }`, or nothing where there is no value or it is too long to send back. */
export function given(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value);
  return text === undefined || text.length > GIVEN_CHARACTERS_MAX ? {} : { given: value };
}

function wordsFor(error: SchemaError, all: SchemaError[], schema: TSchema): Words | null {
  if (error.keyword === 'anyOf') return wordsForUnion(error, all, schema);
  if (isBranch(error, all)) return null;
  return wordsForKeyword(error);
}

function wordsForKeyword({ keyword, params }: SchemaError): Words | null {
  const limit = params.limit;
  switch (keyword) {
    case 'boolean':
      return { type: 'unexpected_field', msg: 'This field is not known here.' };
    case 'additionalProperties':
      return null;
    case 'type':
      return wrongType([String(params.type)]);
    case 'enum':
      return oneOf(params.allowedValues as unknown[]);
    case 'const':
      return oneOf([params.allowedValue]);
    case 'minimum':
      return { type: 'greater_than_equal', msg: `Must be at least ${limit}.`, ctx: { ge: limit } };
    case 'maximum':
      return { type: 'less_than_equal', msg: `Must be at most ${limit}.`, ctx: { le: limit } };
    case 'minLength':
      return { type: 'string_too_short', msg: `Must have at least ${limit} characters.`, ctx: { min_length: limit } };
    case 'maxLength':
      return { type: 'string_too_long', msg: `Must have at most ${limit} characters.`, ctx: { max_length: limit } };
    case 'minItems':
    case 'minProperties':
      return { type: 'too_short', msg: `Must have at least ${limit} items.`, ctx: { min_length: limit } };
    case 'maxItems':
    case 'maxProperties':
      return { type: 'too_long', msg: `Must have at most ${limit} items.`, ctx: { max_length: limit } };
    case 'pattern':
      return {
        type: 'string_pattern_mismatch',
        msg: `Must match ${params.pattern}.`,
        ctx: { pattern: String(params.pattern) },
      };
    case 'format':
      return { type: `${params.format}_invalid`, msg: `Must be a valid ${params.format}.` };
    default:
      return { type: 'value_error', msg: 'This value is not accepted.' };
  }
}

/** A union speaks with one voice: the closest branch's own errors where the type was right, else the types or values it takes. */
function wordsForUnion(union: SchemaError, all: SchemaError[], schema: TSchema): Words | null {
  const branches = (schemaAt(schema, union.schemaPath) as { anyOf?: Record<string, unknown>[] }).anyOf ?? [];
  const constants = branches.flatMap((branch) => ('const' in branch ? [branch.const] : []));
  if (constants.length === branches.length) return oneOf(constants);
  if (closestBranch(union, all) !== null) return null;
  return wrongType(branches.map((branch) => String(branch.type ?? 'value')));
}

/** Whether an error belongs to a union that speaks for it. */
function isBranch(error: SchemaError, all: SchemaError[]): boolean {
  const union = all.find(
    ({ keyword, schemaPath }) => keyword === 'anyOf' && error.schemaPath.startsWith(`${schemaPath}/anyOf/`),
  );
  return union !== undefined && !error.schemaPath.startsWith(`${closestBranch(union, all)}`);
}

/** Path of the branch whose type was right and whose rules were not met; null where no branch had the type. */
function closestBranch(union: SchemaError, all: SchemaError[]): string | null {
  const within = all.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/anyOf/`));
  const branchOf = (path: string) =>
    path.slice(0, union.schemaPath.length) + path.slice(union.schemaPath.length).split('/', 3).join('/');
  const failedAtTheDoor = (branch: string) =>
    within.some(({ schemaPath, keyword }) => schemaPath === branch && (keyword === 'type' || keyword === 'const'));
  return (
    [...new Set(within.map(({ schemaPath }) => branchOf(schemaPath)))].find((branch) => !failedAtTheDoor(branch)) ??
    null
  );
}

const TYPE_WORDS: Record<string, [type: string, word: string]> = {
  string: ['string_type', 'a string'],
  integer: ['int_type', 'an integer'],
  number: ['float_type', 'a number'],
  boolean: ['bool_type', 'true or false'],
  object: ['object_type', 'an object'],
  array: ['list_type', 'a list'],
  null: ['null_type', 'null'],
};

function wrongType(types: string[]): Words {
  const known = types.map((type): [string, string] => TYPE_WORDS[type] ?? ['value_error', type]);
  return { type: known[0]?.[0] ?? 'value_error', msg: `Must be ${known.map(([, word]) => word).join(' or ')}.` };
}

function oneOf(values: unknown[]): Words {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return { type: 'enum', msg: `Must be one of ${list}.`, ctx: { expected: values } };
}

function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The steps as clients write them: positions in lists are numbers. */
function pathIn(value: unknown, steps: string[]): (string | number)[] {
  return steps.map((step, depth) => (Array.isArray(valueAt(value, steps.slice(0, depth))) ? Number(step) : step));
}

/** What stands at `path` below `value`; undefined where nothing does. Own properties alone: `__proto__` leads nowhere. */
export function valueAt(value: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (from, key) =>
      typeof from === 'object' && from !== null && Object.hasOwn(from, key) ? Reflect.get(from, key) : undefined,
    value,
  );
}

function schemaAt(schema: TSchema, schemaPath: string): object {
  const found = valueAt(schema, pointerSteps(schemaPath.replace(/^#/, '')));
  return typeof found === 'object' && found !== null ? found : {};
}
