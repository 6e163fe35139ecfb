import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import { parseExitsFile } from '../src/catalogue/exits-file.ts';
import { ConfigSchema } from '../src/config.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

type Setting = { default?: unknown; secret?: boolean; description: string };

test('the README’s settings are those of the code', () => {
  const rows = Object.entries(ConfigSchema.properties as unknown as Record<string, Setting>).map(([name, setting]) => {
    const value =
      setting.default === undefined ? 'required' : setting.default === '' ? 'empty' : `\`${setting.default}\``;
    return `| \`${name}\` | ${value}${setting.secret ? ', secret' : ''} | ${setting.description} |`;
  });
  assert.equal(readme.split('|---|---|---|\n').at(-1)?.trim(), rows.join('\n'));
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
  const { exits, hosts } = parseExitsFile(example, ['direct']);
  assert.deepEqual([exits.length, Object.keys(hosts).length], [2, 3]);
});
