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
 * The items that schema errors become; none for an error that another one of the same place says better (the branches of a union, the
 * summary beside each unexpected field).
 */
export function describeAll(errors: SchemaError[], schema: TSchema, value: unknown, place: Place): Issue[] {
  const unions = unionsAmong(errors);
  return errors.flatMap((error) => describe(error, unions, schema, value, place));
}

function describe(error: SchemaError, unions: Unions, schema: TSchema, value: unknown, place: Place): Issue[] {
  const path = pathIn(value, pointerSteps(error.instancePath));
  if (error.keyword === 'required')
    return (error.params.requiredProperties as string[]).map((name) => ({
      loc: [place, ...path, name],
      msg: 'This field is required.',
      type: 'missing',
      ctx: {},
    }));
  const words = wordsFor(error, unions, schema);
  if (!words) return [];
  const ctx = { ...given(valueAt(value, path)), ...words.ctx };
  return [{ loc: [place, ...path], msg: words.msg, type: words.type, ctx }];
}

/** `{ given }`, or nothing where there is no value or it is too long to send back. */
export function given(value: unknown): Record<string, unknown> {
  if (value === undefined || roomLeft(value, GIVEN_CHARACTERS_MAX) < 0) return {};
  const text = JSON.stringify(value);
  return text === undefined || text.length > GIVEN_CHARACTERS_MAX ? {} : { given: value };
}

/** What is left of `room` characters when `value` is written as JSON; stops where nothing is left, however large the value is. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - 1;
  let left = room;
  for (const key in value) {
    left = roomLeft(Reflect.get(value, key), left - key.length);
    if (left < 0) break;
  }
  return left;
}

function wordsFor(error: SchemaError, unions: Unions, schema: TSchema): Words | null {
  if (error.keyword === 'anyOf') return wordsForUnion(error, unions, schema);
  if (isBranch(error, unions)) return null;
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

/** The unions that were not met, by their place in the schema, each with the branch that comes closest; null: none does. */
type Unions = Map<string, string | null>;

/** A union's branch comes closest where the type was right and other rules were not met. */
function unionsAmong(errors: SchemaError[]): Unions {
  const paths = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => schemaPath);
  return new Map([...new Set(paths)].map((path) => [path, closestBranch(path, errors)]));
}

/** A union speaks with one voice: the closest branch's own errors where the type was right, else the types or values it takes. */
function wordsForUnion({ schemaPath }: SchemaError, unions: Unions, schema: TSchema): Words | null {
  const branches = (schemaAt(schema, schemaPath) as { anyOf?: Record<string, unknown>[] }).anyOf ?? [];
  const constants = branches.flatMap((branch) => ('const' in branch ? [branch.const] : []));
  if (constants.length === branches.length) return oneOf(constants);
  if (unions.get(schemaPath)) return null;
  return wrongType(branches.map((branch) => String(branch.type ?? 'value')));
}

/** Whether an error belongs to a union that speaks for it. */
function isBranch({ schemaPath }: SchemaError, unions: Unions): boolean {
  for (const [union, closest] of unions)
    if (schemaPath.startsWith(`${union}/anyOf/`)) return !schemaPath.startsWith(`${closest}`);
  return false;
}

/** Path of the branch whose type was right and whose rules were not met; null where no branch had the type. */
function closestBranch(union: string, errors: SchemaError[]): string | null {
  const failedByType = new Map<string, boolean>();
  for (const { schemaPath, keyword } of errors) {
    if (!schemaPath.startsWith(`${union}/anyOf/`)) continue;
    const branch = union + schemaPath.slice(union.length).split('/', 3).join('/');
    const isType = schemaPath === branch && (keyword === 'type' || keyword === 'const');
    failedByType.set(branch, isType || failedByType.get(branch) === true);
  }
  for (const [branch, failed] of failedByType) if (!failed) return branch;
  return null;
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
