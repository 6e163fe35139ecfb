import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2Set } from 're2js';
import { compileExpression, type Pattern } from '../../../src/analysis/rules/search/expression.ts';
import { ExpressionSet } from '../../../src/analysis/rules/search/expression-set.ts';
import {
  edgeLiterals,
  requiredLiterals,
  TEXT_END,
  TEXT_START,
} from '../../../src/analysis/rules/search/pattern-literals.ts';

const member = (config: Pattern) => ({ config, expression: compileExpression(config.pattern, config.flags) });

test('an expression requires the literals that are in everything it matches, the most telling ones', () => {
  const cases: [string, string[] | null][] = [
    ['/gate/[a-z]{4}\\.php\\?id=', ['/gate/']],
    ['Casino|LOTTERY', ['casino', 'lottery']],
    ['(?:casino)?bonus', ['bonus']],
    ['(?:kit|landing)+/x', ['kit', 'landing']],
    ['casino|[a-z]+', null],
    ['(?:casino)*', null],
    ['\\.php\\?id=\\d', null],
    ['https://www\\.', null],
    ['[0-9a-f]{32}', null],
    ['(?i)casino', null],
    ['großen', null],
  ];
  for (const [pattern, literals] of cases) assert.deepEqual(requiredLiterals(pattern), literals, pattern);
});

test('the edges of an expression are what begins and what ends everything it matches', () => {
  const cases: [string, string, string][] = [
    ['\\.php\\?t[a-z]=\\d$', '.php?t', ''],
    ['^/T/[0-9]', `${TEXT_START}/t/`, ''],
    ['^[a-z]+$', TEXT_START, ''],
    ['[0-9]+\\.JPG$', '', `.jpg${TEXT_END}`],
    ['/(?:a|b)\\.(exe)$', '/', `.exe${TEXT_END}`],
    ['/x(?:\\.exe$|\\.js)', '/x.', ''],
    ['a*b$', '', `b${TEXT_END}`],
    ['(?:ab)+$', 'ab', ''],
    ['a?bc', '', ''],
    ['\\bkit$', '', `kit${TEXT_END}`],
    ['(?m)^ab$', '', ''],
    ['é/$', '', `/${TEXT_END}`],
    ['', '', ''],
  ];
  for (const [pattern, first, last] of cases) assert.deepEqual(edgeLiterals(pattern), { first, last }, pattern);
});

test('a text that has a beginning everywhere is searched once, not from each of them', (t) => {
  const patterns = ['//.+x$', '//[0-9]+y', '//a.*z$'];
  const set = new ExpressionSet(patterns.map((pattern) => member({ pattern })));
  const search = t.mock.method(RE2Set.prototype, 'match');
  const slashes = '/'.repeat(8_000);
  assert.deepEqual(set.match(`${slashes}x`), [0]);
  assert.ok(search.mock.callCount() < 30, `${search.mock.callCount()} searches`);
});

/** Pieces that patterns and texts are made of, so that they meet: letters with relatives beyond ASCII among them. */
const WORDS = ['alpha', 'Beta', 'KEY', 'ask', 'a', 'S', '.php', '/', '0', 'é', '\u017f', '\u212a'];
const literal = fc.constantFrom(...WORDS).map((word) => word.replace('.', '\\.'));
const atom = fc.oneof(literal, fc.constantFrom('[a-k]', '\\w', '.', '[^a]', '^', '$', '(?i:key)', '(?i:s)'));
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => `(?:${parts.join('|')})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('?', '*', '+', '{2}', '{0,1}'))
      .map(([one, times]) => `(?:${one})${times}`),
  ),
}));
const config = fc.record({ pattern, flags: fc.constantFrom('' as const, 'i' as const) });
const text = fc
  .array(
    fc.constantFrom(...WORDS).chain((word) => fc.constantFrom(word, word.toUpperCase(), word.toLowerCase())),
    { maxLength: 6 },
  )
  .map((words) => words.join(''));

test('a set finds what each of its expressions finds, in ASCII and beyond', () => {
  fc.assert(
    fc.property(
      fc.array(config, { minLength: 1, maxLength: 8 }),
      fc.array(text, { maxLength: 8 }),
      (configs, texts) => {
        const members = configs.map(member);
        const set = new ExpressionSet(members);
        for (const one of texts) {
          const each = members.flatMap(({ expression }, at) => (expression.test(one) ? [at] : []));
          assert.deepEqual(set.match(one), each, one);
        }
      },
    ),
    { seed: 20_261_122, numRuns: 200 },
  );
});

test('expressions that are not wanted are not tried', () => {
  const tried: string[] = [];
  const watched = (pattern: string) => {
    const { config, expression } = member({ pattern });
    const test = (text: string) => Boolean(tried.push(pattern)) && expression.test(text);
    return { config, expression: { ...expression, test } };
  };
  const set = new ExpressionSet(['casino', 'bonus', 'lottery'].map(watched));
  assert.deepEqual(
    set.match('a casino bonus', (at) => at !== 0),
    [1],
  );
  assert.deepEqual(tried, ['bonus']);
});
