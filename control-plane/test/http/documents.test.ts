import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingsRows, tableBelow } from '../../../shared/test/support/settings-table.ts';
import { ConfigSchema, readConfig } from '../../src/config.ts';
import { runningApi } from '../support/running-api.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('the settings in the README equal those of the code', () => {
  assert.deepEqual(tableBelow(readme, 'Settings'), settingsRows(ConfigSchema));
});

test('the operations in the README equal those of the API', async () => {
  const api = await runningApi();
  await api.stop();
  const rows = api.routes
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ method, path, permission, summary }) => [`\`${method} ${path}\``, permission, summary]);
  assert.deepEqual(tableBelow(readme, 'Operations'), rows);
});

test('all problems of the settings are reported at once', () => {
  assert.throws(
    () =>
      readConfig({
        ADSWEEP_HTTP_PORT: 'x',
        ADSWEEP_API_KEY: 'two words',
        ADSWEEP_PUBLIC_URL: 'ftp://x',
        ADSWEEP_LOG_LEVEL: 'loud',
      }),
    (error: Error & { problems: string[] }) => {
      const names = error.problems.map((problem) => problem.split(' ')[0]).sort();
      assert.deepEqual(
        [...new Set(names)],
        [
          'ADSWEEP_API_KEY',
          'ADSWEEP_HTTP_PORT',
          'ADSWEEP_LEASE_SECRET',
          'ADSWEEP_LOG_LEVEL',
          'ADSWEEP_NODE_TOKEN',
          'ADSWEEP_PUBLIC_URL',
        ],
      );
      return true;
    },
  );
});
