import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { parseJsonInSlices } from '@adsweep/shared/service/parse-json-in-slices.ts';
import { seededRandom } from './support/seeded-random.ts';

/** Texts that would end a string, a list or an object for a careless reader. */
const TEXTS = ['', '"', '\\', '\\"', '"}', '},{', ']}', '[{', ':', ',', '\u2028', '💬', '__proto__', 'a'];
const PIECES = ['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '0', 'null', '{}', '[{}]', '"a":1'];

const seed = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));

describe(`JSON that is parsed in slices (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const roll = (sides: number): number => Math.floor(random() * sides);
  const some = <T>(of: () => T): T[] => Array.from({ length: roll(4) }, of);
  const objectOf = (depth: number): object =>
    Object.fromEntries(some(() => [TEXTS[roll(TEXTS.length)]!, valueAt(depth + 1)]));
  const valueAt = (depth: number): unknown => {
    const kind = roll(depth > 3 ? 4 : 8);
    if (kind < 4) return [TEXTS[roll(TEXTS.length)], -1.5e3, true, null][kind];
    if (kind < 6) return objectOf(depth);
    return kind === 6 ? some(() => objectOf(depth)) : some(() => valueAt(depth + 1));
  };

  it('is what JSON.parse makes of it, and refused where that refuses it', async () => {
    let refused = 0;
    for (let round = 0; round < 3_000; round++) {
      let text = JSON.stringify(valueAt(0), null, roll(8) === 0 ? 1 : 0);
      for (let change = roll(3); change > 0; change--) {
        const at = roll(text.length + 1);
        text = text.slice(0, at) + PIECES[roll(PIECES.length)]! + text.slice(at + roll(3));
      }
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        refused += 1;
        await assert.rejects(parseJsonInSlices(text), SyntaxError, text);
        continue;
      }
      const parsed = await parseJsonInSlices(text);
      // V8 (Node.js 24) may read a name with an escape as another one that it has seen in this place.
      if (!text.includes('\\')) assert.deepEqual(parsed, expected, text);
    }
    assert.ok(refused > 300 && refused < 2_700, `${refused} were refused`);
  });

  it('is parsed item by item', async (t) => {
    const item = { names: TEXTS, more: { list: [1, [2]] } };
    const text = JSON.stringify({ one: item, items: Array(200).fill(item), last: 'x' });
    const parse = t.mock.method(JSON, 'parse');
    await parseJsonInSlices(text);
    const longest = Math.max(...parse.mock.calls.map((call) => String(call.arguments[0]).length));
    assert.ok(longest < text.length / 100, `${longest} of ${text.length}`);
  });
});
