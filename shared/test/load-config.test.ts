import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, isOneLetterApart, loadConfig, unreadSettings } from '@adsweep/shared/service/load-config.ts';
import { urlSetting } from '@adsweep/shared/service/settings.ts';
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

test('a URL that cannot be used is named at once, without its credentials, and so are settings that do not fit together', () => {
  const url = (more: object = {}) =>
    urlSetting({ default: '', pattern: '^(https?://.*)?$', mustBe: 'an http or https URL', description: '', ...more });
  const Urls = Type.Object({ API: url(), MAIL: url({ secret: true }), KEY: Type.String({ default: '' }) });
  const problems = (env: Record<string, string>) => {
    const unpaired = (one: string) => () => {
      throw new ConfigError([`${one} needs KEY`]);
    };
    try {
      loadConfig(Urls, env, [], [unpaired('API'), unpaired('MAIL')]);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  const unpaired = ['API needs KEY', 'MAIL needs KEY'];
  assert.deepEqual(problems({ API: 'http://[::1]:8080/x', MAIL: 'http://user:p%40ss@mail.example' }), unpaired);
  for (const value of ['http://host:99999', 'http://', 'http://a b/', 'http://user:p%zz@host', 'http://user:a/b@host'])
    assert.deepEqual(
      problems({ API: value, MAIL: value }),
      [
        `API must be an http or https URL, with special characters percent-encoded, not ${JSON.stringify(value)}`,
        'MAIL must be an http or https URL, with special characters percent-encoded',
        ...unpaired,
      ],
      value,
    );
  assert.equal(problems({ API: 'ftp://host' })[0], 'API must be an http or https URL, not "ftp://host"');
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

test('a variable that is one letter away from an unset setting is refused, others are not looked at', () => {
  const Kept = Type.Object({
    ADSWEEP_KEEP_DAYS: Type.Integer({ default: 0 }),
    ADSWEEP_NODE_TOKEN: Type.String({ default: '', secret: true }),
  });
  const problems = (env: NodeJS.ProcessEnv) => {
    try {
      loadConfig(Kept, env);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  assert.deepEqual(problems({ ADSWEEP_KEEP_DAY: '30', ADSWEEP_NODE_TOKEN_FIEL: '/t' }), [
    'ADSWEEP_KEEP_DAY is no setting: ADSWEEP_KEEP_DAYS is',
    'ADSWEEP_NODE_TOKEN_FIEL is no setting: ADSWEEP_NODE_TOKEN_FILE is',
  ]);
  for (const env of [
    { ADSWEEP_KEEP_DAY: '' },
    { ADSWEEP_KEEP_DAYS: '3', ADSWEEP_KEEP_DAY: '30' },
    { ADSWEEP_KEEP: '3' },
  ])
    assert.deepEqual(problems(env), []);
});

test('variables of ours that are set and no settings are named, but for those of the command line and of tests', () => {
  const env = {
    ADSWEEP_KEEP_DAYS: '3',
    ADSWEEP_TOKEN_FILE: '/t',
    ADSWEEP_URL: 'http://x',
    ADSWEEP_TEST_PICTURES: '/p',
  };
  const names = ['ADSWEEP_KEEP_DAYS', 'ADSWEEP_TOKEN'];
  assert.deepEqual(unreadSettings(names, env), []);
  const unread = { ADSWEEP_RETENTION: '30', ADSWEEP_PORT: '', OTHER_PORT: '1' };
  assert.deepEqual(unreadSettings(names, { ...env, ...unread }), ['ADSWEEP_RETENTION']);
});

test('names are one letter apart if a letter is changed, added, left out or exchanged with the next one', () => {
  for (const other of ['DAYZ', 'DAYSS', 'DAY', 'DASY', 'XDAYS', 'ADYS', 'AYS'])
    assert.ok(isOneLetterApart('DAYS', other), other);
  for (const other of ['DAYS', 'DA', 'SYAD', 'DYSA', 'HOURS', '']) assert.ok(!isOneLetterApart('DAYS', other), other);
});
