import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainText } from '../src/capture/session/plain-text.ts';

it('a title or file name of a page has no control characters, none that turn the direction, and no lone surrogates', () => {
  assert.equal(plainText('\u202eexe.gpj\u202c invoice\u2066!\u2069'), 'exe.gpj invoice!');
  assert.equal(plainText(' a\r\n\tb\0 '), 'a b');
  assert.equal(plainText('a\ud83d'), 'a\ufffd');
  assert.equal(plainText('\u200f\u061cשלום'), 'שלום');
});
