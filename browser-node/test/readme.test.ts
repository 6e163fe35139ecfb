import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingsRows, tableBelow } from '../../shared/test/support/settings-table.ts';
import { ConfigSchema } from '../src/config.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the README’s settings are those of the code', () => {
  assert.deepEqual(tableBelow(readme, 'Settings'), settingsRows(ConfigSchema));
});
