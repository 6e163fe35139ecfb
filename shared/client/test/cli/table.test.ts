import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeJson, safeText } from '../../src/cli/safe-text.ts';
import { table } from '../../src/cli/table.ts';

const ROWS = [
  ['medium', 'back_button', `https://shop.example/${'x'.repeat(90)}`],
  ['low', 'autosound', '漢字のページ'.repeat(12)],
];
const HEADERS = ['severity', 'tag', 'where'];
/** The width of a text in a terminal; here only Han and kana are wide. */
const cells = (line: string) => [...line].reduce((sum, char) => sum + (/[぀-鿿]/.test(char) ? 2 : 1), 0);

test('a table is cut to the width of the terminal, the widest column first', () => {
  for (const width of [200, 80, 60, 40, 24, 10, 3]) {
    const lines = table(HEADERS, ROWS, width);
    assert.equal(lines.length, 3);
    for (const line of lines) assert.ok(cells(line) <= width, `${width}: ${line}`);
  }
  const [, row] = table(HEADERS, ROWS, 80);
  assert.match(row!, /^medium {4}back_button {2}https:\/\/shop\.example\/x+…$/);
});

test('a table that is not on a terminal is complete', () => {
  const [, row, wide] = table(HEADERS, ROWS, Number.POSITIVE_INFINITY);
  assert.ok(row!.endsWith(ROWS[0]![2]!) && wide!.endsWith(ROWS[1]![2]!));
});

test('a list may have more rows than a call has arguments', () => {
  const rows = Array.from({ length: 150_000 }, () => ['a']);
  assert.equal(table(['x'], rows, Number.POSITIVE_INFINITY).length, 150_001);
});

const hasNoControls = (text: string) => [...text].every((char) => char >= ' ' && !/[\x7f-\x9f\u202e]/.test(char));

test('what a hostile page wrote cannot command the terminal, break a line or reverse the text', () => {
  const hostile = 'a\u001b]0;title\u0007b\u009b2Jc\nd\r\u202ee';
  assert.equal(safeText(hostile), 'a�]0;title�b�2Jc�d��e');
  assert.ok(hasNoControls(table(['x'], [[hostile]], 80).join('')));
  const json = safeJson({ hostile });
  assert.ok(hasNoControls(json.replaceAll('\n', '')));
  assert.deepEqual(JSON.parse(json), { hostile });
});
