import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runningApi } from '../../../control-plane/test/support/running-api.ts';
import { GENERATED, generate } from './support/generate.ts';

test('the types and operations of the client are those of the OpenAPI document', async (t) => {
  const api = await runningApi();
  t.after(() => api.stop());
  const { body } = await api.get('/api/v1/openapi.json', { key: null });
  for (const [name, text] of Object.entries(await generate(body))) {
    const isCurrent = readFileSync(new URL(name, GENERATED), 'utf8') === text;
    assert.ok(isCurrent, `The API has changed. Run: node shared/client/test/support/generate-api.ts (${name} differs)`);
  }
});
