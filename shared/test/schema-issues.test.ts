import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DistinctList } from '@adsweep/shared/validation/distinct-list.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import { schemaIssues } from '@adsweep/shared/validation/schema-issues.ts';
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';

const told = (schema: TSchema, value: unknown): string[] =>
  schemaIssues(Value.Errors(schema, value), schema, value, ['body']).map(
    ({ loc, type, msg }) => `${loc.join('.')} ${type}: ${msg}`,
  );

test('each rule of a schema that is not met is one plain sentence', () => {
  const cases: [TSchema, unknown, string][] = [
    [Type.Integer({ minimum: 1, maximum: 9 }), 'x', 'int_type: Must be an integer from 1 to 9.'],
    [Type.Integer({ minimum: 1, maximum: 9 }), 0, 'greater_than_equal: Must be an integer from 1 to 9.'],
    [Type.Integer({ minimum: 1, maximum: 9 }), 10, 'less_than_equal: Must be an integer from 1 to 9.'],
    [Type.Integer({ minimum: 1 }), 0, 'greater_than_equal: Must be an integer of at least 1.'],
    [Type.Number({ maximum: 0.5 }), 1, 'less_than_equal: Must be a number of at most 0.5.'],
    [Type.Integer(), 0.5, 'int_type: Must be an integer.'],
    [Type.String(), 5, 'string_type: Must be a string.'],
    [Type.String({ minLength: 1 }), '', 'string_too_short: Must have at least 1 character.'],
    [Type.String({ maxLength: 2 }), 'abc', 'string_too_long: Must have at most 2 characters.'],
    [Type.String({ pattern: '^a$' }), 'b', 'string_pattern_mismatch: Must match the pattern ^a$.'],
    [Type.String({ pattern: '\\S' }), ' ', 'string_pattern_mismatch: Must not be blank.'],
    [Type.String({ format: 'uuid' }), 'b', 'uuid_invalid: Must be a valid uuid.'],
    [Type.Boolean(), 'yes', 'bool_type: Must be true or false.'],
    [Type.Array(Type.String(), { minItems: 1 }), [], 'too_short: Must have at least 1 item.'],
    [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'too_long: Must have at most 1 item.'],
    [DistinctList(Type.String(), {}), ['a', 'a'], 'value_error: Must not have the same item twice.'],
    [Type.Array(Type.String()), {}, 'list_type: Must be a list.'],
    [Type.Object({}), [], 'object_type: Must be an object.'],
    [
      Type.Record(Type.String(), Type.String(), { maxProperties: 0 }),
      { a: '' },
      'too_long: Must have at most 0 fields.',
    ],
    [Type.Literal('a'), 'b', 'enum: Must be "a".'],
    [Type.Enum(['a', 'b']), 'c', 'enum: Must be one of "a", "b".'],
    [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'c', 'enum: Must be one of "a", "b".'],
    [Type.Union([Type.String(), Type.Null()]), 5, 'string_type: Must be a string or null.'],
    [Type.Union([Type.String({ maxLength: 1 }), Type.Null()]), 'ab', 'string_too_long: Must have at most 1 character.'],
    [
      Type.Refine(
        Type.String(),
        () => false,
        () => 'Must be a palindrome.',
      ),
      'ab',
      'value_error: Must be a palindrome.',
    ],
  ];
  for (const [schema, value, expected] of cases) assert.deepEqual(told(schema, value), [`body ${expected}`]);
});

test('every problem of a value is told, each at its field', () => {
  const schema = Type.Object(
    { name: Type.String(), list: Type.Array(Type.Object({ size: Type.Integer() })) },
    { additionalProperties: false },
  );
  assert.deepEqual(told(schema, { list: [{ size: 1 }, { size: 'big' }], colour: 'red', taste: 'sweet' }).sort(), [
    'body.colour unexpected_field: This field is not known here.',
    'body.list.1.size int_type: Must be an integer.',
    'body.name missing: This field is required.',
    'body.taste unexpected_field: This field is not known here.',
  ]);
});

test('a value that is nested as deep as a body can be is not echoed', () => {
  let nested: unknown = [];
  for (let level = 0; level < 32_000; level++) nested = [nested];
  assert.deepEqual(given(nested), {});
  assert.deepEqual(given([[['x']]]), { given: [[['x']]] });
});
