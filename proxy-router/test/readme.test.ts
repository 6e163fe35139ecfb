import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { settingsRows, tableBelow } from '../../shared/test/support/settings-table.ts';
import { ConfigSchema } from '../src/config.ts';
import { parseExitsFile } from '../src/exits/exits-file.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the README’s settings are those of the code', () => {
  assert.deepEqual(tableBelow(readme, 'Settings'), settingsRows(ConfigSchema));
});

test('the README’s statuses are those of the gateway', () => {
  const rows = [...readme.matchAll(/^\| (59\d) \| `(\w+)` \|/gm)].map(([, status, outcome]) => [
    outcome,
    Number(status),
  ]);
  assert.deepEqual(Object.fromEntries(rows), GATEWAY_STATUS);
});

test('the README’s exits file can be used', () => {
  const example = /```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const { exits, providers, hosts } = parseExitsFile(example, ['direct', 'list']);
  assert.deepEqual([exits.length, providers.length, Object.keys(hosts).length], [2, 1, 3]);
});
