import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { processEnvironment } from '../services.ts';

const settings = Type.Object({ ADSWEEP_PORT: Type.Integer(), ADSWEEP_TOKEN: Type.String({ secret: true }) });

test('a process gets its own settings, common variables and what it is given, and nothing else', () => {
  const env = {
    PATH: '/bin',
    ADSWEEP_PORT: '1',
    ADSWEEP_TOKEN_FILE: '/token',
    ADSWEEP_API_KEY: 'key',
    AWS_SECRET: 'x',
  };
  assert.deepEqual(processEnvironment(settings, { MORE: '2' }, env), {
    PATH: '/bin',
    ADSWEEP_PORT: '1',
    ADSWEEP_TOKEN_FILE: '/token',
    MORE: '2',
  });
});

test('a given setting overrides the environment and the file of a secret', () => {
  const env = { ADSWEEP_PORT: '1', ADSWEEP_TOKEN: 'theirs', ADSWEEP_TOKEN_FILE: '/token' };
  assert.deepEqual(processEnvironment(settings, { ADSWEEP_TOKEN: 'ours', ADSWEEP_PORT: '2' }, env), {
    ADSWEEP_TOKEN: 'ours',
    ADSWEEP_PORT: '2',
  });
});
