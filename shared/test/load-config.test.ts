import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, loadConfig } from '@adsweep/shared/service/load-config.ts';
import { Type } from 'typebox';

const Schema = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  NAME: Type.String(),
  SECRET: Type.String({ minLength: 8, secret: true }),
  OPTIONAL: Type.Optional(Type.Integer({ minimum: 1 })),
});

const problemsOf = (env: Record<string, string>): string[] => {
  try {
    loadConfig(Schema, env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
};

test('settings are read, converted and given their defaults; an empty variable counts as unset', () => {
  assert.deepEqual(loadConfig(Schema, { NAME: 'a', SECRET: 'long enough', PORT: '' }), {
    PORT: 8080,
    NAME: 'a',
    SECRET: 'long enough',
  });
  assert.equal(loadConfig(Schema, { NAME: 'a', SECRET: 'long enough', PORT: '0' }).PORT, 0);
});

test('every problem is named at once in plain words, and no secret is repeated', () => {
  assert.deepEqual(problemsOf({ PORT: 'eighty', SECRET: 'short', OPTIONAL: '0' }), [
    'PORT must be an integer from 0 to 65535, not "eighty"',
    'NAME is not set',
    'SECRET must have at least 8 characters',
    'OPTIONAL must be an integer of at least 1, not 0',
  ]);
  assert.deepEqual(problemsOf({ PORT: '8080.5', NAME: 'a', SECRET: 'long enough' }), [
    'PORT must be an integer from 0 to 65535, not "8080.5"',
  ]);
});

test('a secret may stand in a file, but not in both places', () => {
  const dir = mkdtempSync(join(tmpdir(), 'adsweep-config-'));
  const file = join(dir, 'secret');
  writeFileSync(file, 'from the file\n');
  try {
    assert.equal(loadConfig(Schema, { NAME: 'a', SECRET_FILE: file }).SECRET, 'from the file');
    assert.match(problemsOf({ NAME: 'a', SECRET: 'long enough', SECRET_FILE: file }).join(), /both set/);
    assert.match(problemsOf({ NAME: 'a', SECRET_FILE: `${file}.missing` }).join(), /cannot be read/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
