import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser } from 'htmlparser2';
import { areaField, hidden, selectField, textField } from '../../src/console/components/fields.ts';
import { short } from '../../src/console/components/texts.ts';
import type { Html } from '../../src/http/pages/html.ts';

/** Texts that people write, and some that an attacker does. */
const TEXTS = [
  'ads 👩‍👧 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'عرض \u200fالربيع\u200e مَجَّانِيّ',
  'می\u200cخواهم \u2067בדיקה\u2069',
  'soft\u00adhyphen \ufeff\u2028\u202egnp.exe',
  '"\'><script>&amp;</textarea>',
  'private \ue000, a line\nand another',
  '\u0085',
];

/** The value of the control in a field, as a browser reads it. */
function valueIn(field: Html | null): string {
  let value = '';
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name === 'input' || (name === 'option' && 'selected' in attributes)) value = attributes.value ?? '';
    },
    // The line that follows the start of a text area is not part of its value.
    ontext: (text) => {
      value += text;
    },
  });
  parser.end(String(field).replaceAll(/<(label|p|div)[^>]*>[^<]*|<\/(label|p|div)>|(?<=<option[^>]*>)[^<]*/g, ''));
  return value.replace(/^\n/, '');
}

test('a field of each kind has exactly the text that it was given, with every invisible character', () => {
  for (const value of TEXTS) {
    const field = { name: 'name', label: 'Name', value };
    assert.equal(valueIn(textField(field)), value);
    assert.equal(valueIn(areaField(field)), value);
    assert.equal(valueIn(hidden('name', value)), value);
    assert.equal(valueIn(selectField({ ...field, options: [{ value, label: 'shown' }] })), value);
  }
});

test('a list to choose from has the value that it was given, also one that is none of its options or groups', () => {
  const options = [
    { value: '', label: 'None' },
    { group: 'A', options: [{ value: 'a', label: 'a' }] },
  ];
  const selected = (value: string) => valueIn(selectField({ name: 'name', label: 'Name', value, options }));
  assert.deepEqual(['', 'a', 'archived'].map(selected), ['', 'a', 'archived']);
  const grouped = String(selectField({ name: 'name', label: 'Name', value: 'a', options }));
  assert.equal(grouped.match(/<option/g)?.length, 2);
});

test('a text is not cut within a character', () => {
  assert.equal(short('ads 👩', 5), 'ads 👩'.slice(0, 4) + '…');
  for (let max = 2; max < 12; max++) assert.ok(short('👩👧👩👧👩👧👩', max).isWellFormed(), `${max}`);
});
