import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConfigSchema, readConfig } from '../src/config.ts';
import { ERRORS } from '../src/http/errors.ts';
import { runningApi } from './support/running-api.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The rows of the table below a heading, without its head. */
function tableBelow(heading: string): string[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1);
}

/** Cells of a row, without the padding that a formatter may add. */
const cells = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

type Setting = { default?: unknown; secret?: boolean; description: string };

test('the README’s settings are those of the code', () => {
  const rows = Object.entries(ConfigSchema.properties as unknown as Record<string, Setting>).map(([name, setting]) => {
    const value =
      setting.default === undefined ? 'required' : setting.default === '' ? 'empty' : `\`${setting.default}\``;
    return [`\`${name}\``, `${value}${setting.secret ? ', secret' : ''}`, setting.description];
  });
  assert.deepEqual(tableBelow('Settings').map(cells), rows);
});

test('the README’s error codes are those of the code', () => {
  const rows = Object.entries(ERRORS).map(([code, { status, detail, means }]) => [
    `\`${code}\``,
    String(status),
    detail,
    means,
  ]);
  assert.deepEqual(tableBelow('Errors').map(cells), rows);
});

test('the README’s operations are those of the API', async () => {
  const api = await runningApi();
  await api.stop();
  const rows = api.routes
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ method, path, permission, summary }) => [`\`${method} ${path}\``, permission, summary]);
  assert.deepEqual(tableBelow('Operations').map(cells), rows);
});

test('all problems of the settings are told at once', () => {
  assert.throws(
    () =>
      readConfig({
        ADSWEEP_HTTP_PORT: 'x',
        ADSWEEP_API_KEY: 'short',
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
