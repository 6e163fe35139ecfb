import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { FarmConfigSchema } from '../config.ts';
import { readFarmConfig } from '../read-config.ts';
import { SERVICES } from '../services.ts';

const SCHEMAS = [FarmConfigSchema, ...Object.values(SERVICES).map(({ settings }) => settings)];
/** Control characters are in no address, name, number, word or secret. */
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

test('every setting of every service that cannot be used is named once, all of them at the same time', () => {
  const refusing = SCHEMAS.flatMap(({ properties }) => Object.entries(properties))
    .filter(([, property]) => 'pattern' in property || property.type === 'integer')
    .map(([name]) => name);
  const names = [...new Set(refusing)].sort();
  assert.ok(names.length > 40, `${names.length}`);
  const problems = problemsOf(Object.fromEntries(names.map((name) => [name, NONSENSE])));
  assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), names);
});

test('a setting with a pattern says in words what it must be', () => {
  for (const { properties } of SCHEMAS)
    for (const [name, property] of Object.entries(properties))
      if ('pattern' in property) assert.ok('mustBe' in property, name);
  assert.deepEqual(problemsOf({ ADSWEEP_CHROMIUM_SANDBOX: 'maybe' }), [
    'ADSWEEP_CHROMIUM_SANDBOX must be on or off, not "maybe"',
  ]);
});

test('what the farm gives its services is no problem when it is not set', () => {
  assert.deepEqual(problemsOf({}), []);
  assert.equal(readFarmConfig({ ADSWEEP_NODES: '2' }).ADSWEEP_NODES, 2);
});
