import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, isOneLetterApart } from '@adsweep/shared/service/load-config.ts';
import { FarmConfigSchema, readFarmConfig, unreadVariables } from '../config.ts';
import { SERVICES } from '../services.ts';

const SCHEMAS = [FarmConfigSchema, ...Object.values(SERVICES).map(({ settings }) => settings)];
/** Control characters are invalid in every setting. */
const NONSENSE = '\u0001 \u0002';

function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readFarmConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
}

test('all unusable settings of all services are reported at once, each once', () => {
  const refusing = SCHEMAS.flatMap(({ properties }) => Object.entries(properties))
    .filter(([, property]) => 'pattern' in property || property.type === 'integer')
    .map(([name]) => name);
  const names = [...new Set(refusing)].sort();
  assert.ok(names.length > 40, `${names.length}`);
  const problems = problemsOf(Object.fromEntries(names.map((name) => [name, NONSENSE])));
  assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), names);
});

test('a setting with a pattern describes valid values in words', () => {
  for (const { properties } of SCHEMAS)
    for (const [name, property] of Object.entries(properties))
      if ('pattern' in property) assert.ok('mustBe' in property, name);
  assert.deepEqual(problemsOf({ ADSWEEP_CHROMIUM_SANDBOX: 'maybe' }), [
    'ADSWEEP_CHROMIUM_SANDBOX must be on or off, not "maybe"',
  ]);
});

test('a misspelt setting of a service is refused, and no two settings can be mistaken for each other', () => {
  assert.deepEqual(problemsOf({ ADSWEEP_KEEP_EVIDENCE_DAY: '30' }), [
    'ADSWEEP_KEEP_EVIDENCE_DAY is no setting: ADSWEEP_KEEP_EVIDENCE_DAYS is',
  ]);
  const names = [...new Set(SCHEMAS.flatMap(({ properties }) => Object.keys(properties)))];
  for (const name of names)
    assert.deepEqual(
      names.filter((other) => isOneLetterApart(name, other)),
      [],
      name,
    );
});

test('a variable that no process of the farm reads is named', () => {
  assert.deepEqual(unreadVariables({ ADSWEEP_PORT: '9000', ADSWEEP_HTTP_PORT: '9000', ADSWEEP_SLOTS: '4' }), [
    'ADSWEEP_PORT',
  ]);
});

test('settings that the farm gives to its services need not be set', () => {
  assert.deepEqual(problemsOf({}), []);
  assert.equal(readFarmConfig({ ADSWEEP_NODES: '2' }).ADSWEEP_NODES, 2);
});
