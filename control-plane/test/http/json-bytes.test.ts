import assert from 'node:assert/strict';
import { it } from 'node:test';
import { jsonBytes } from '../../src/http/json-bytes.ts';

it('a response is serialized as JSON.stringify does', async () => {
  const texts = ['é', '\ud800', '"', '\n', 'x'.repeat(100_000)];
  const values = [
    null,
    [],
    {},
    [undefined, () => 1, new Date(0), null, 1],
    { a: undefined, b: null, c: [1, { d: undefined }], d: new Date(0), e: { f: [texts] } },
    { items: Array.from({ length: 300 }, (_, id) => ({ id, texts })), total: 300 },
    Object.assign(Object.create(null), { a: 1 }),
    Object.fromEntries(['__proto__', 'constructor', 'é"'].map((name) => [name, [name]])),
  ];
  for (const value of values)
    assert.equal((await jsonBytes(value)).toString(), Buffer.from(JSON.stringify(value)).toString());
});

it('other work runs while a large response is serialized', async () => {
  const items = Array.from({ length: 2_000 }, (_, id) => ({ id, text: 'é'.repeat(10_000) }));
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await jsonBytes({ items });
  clearInterval(timer);
  assert.ok(turns > 0);
});
