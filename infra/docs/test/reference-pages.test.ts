import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseExitsFile } from '../../../proxy-router/src/exits/exits-file.ts';
import { referencePages } from './support/reference-pages.ts';

test('the documents of errors, events, settings and metrics are those of the code; write-reference-pages.ts writes them', () => {
  for (const [name, text] of Object.entries(referencePages()))
    assert.ok(
      readFileSync(new URL(`../${name}`, import.meta.url), 'utf8') === text,
      `${name} is not current: node infra/docs/test/support/write-reference-pages.ts writes it`,
    );
});

test('the exits files in the guide are accepted by the proxy-router', () => {
  const guide = readFileSync(new URL('../guide-proxies.md', import.meta.url), 'utf8');
  const files = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  assert.equal(files.length, 3);
  for (const text of files) parseExitsFile(text, ['direct', 'list'], { exits: [], hosts: {} });
});
