import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from 're2js';
import { expressionProblem } from '../../../src/analysis/rules/search/expression.ts';
import { leastInstructions } from '../../../src/analysis/rules/search/pattern-size.ts';

const repeated = (part: string): string => part.repeat(Math.floor(4_096 / part.length));

/** Patterns of up to 4,096 characters that compile to many instructions. */
const LARGE = [
  '.{1000}',
  '[a-z]{1000}',
  '(?:a|b|c){1000}',
  '(?:a?){500}',
  '(?:(?:x{0,30}){0,30})',
  '(?:(a)(b)){90}',
].map(repeated);
const SMALL = [
  'abc.*def',
  '(?i)(?:foo|bar)\\d+[^x]?',
  'a{0,1000}',
  '(?:ab+c*)?',
  '^\\pL{3,}$',
  '',
  '(a|b|(c|d)){2,5}',
  '\\Qa{9}\\E',
];

test('the instructions of a pattern are counted before it is compiled, and never too many', () => {
  for (const pattern of [...SMALL, ...LARGE.map((large) => large.slice(0, large.length / 16))]) {
    let compiled: number;
    try {
      compiled = RE2JS.compile(pattern).programSize();
    } catch {
      continue;
    }
    const least = leastInstructions(pattern);
    assert.ok(least <= compiled && least >= compiled * 0.8 - 4, `${pattern.slice(0, 60)}: ${least} of ${compiled}`);
  }
});

test('a pattern that is too large is refused without being compiled', (t) => {
  const compile = t.mock.method(RE2JS, 'compile');
  for (const pattern of LARGE) assert.equal(expressionProblem(pattern), 'pattern too large');
  assert.equal(compile.mock.callCount(), 0);
  assert.equal(expressionProblem('a{1000}'), null);
  assert.equal(compile.mock.callCount(), 1);
});
