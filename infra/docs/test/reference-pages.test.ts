import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { referencePages } from './support/reference-pages.ts';

test('the documents of errors, events, settings and metrics are those of the code; write-reference-pages.ts writes them', () => {
  for (const [name, text] of Object.entries(referencePages()))
    assert.ok(
      readFileSync(new URL(`../${name}`, import.meta.url), 'utf8') === text,
      `${name} is not current: node infra/docs/test/support/write-reference-pages.ts writes it`,
    );
});
