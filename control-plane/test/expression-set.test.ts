import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileExpression } from '../src/analysis/rules/evaluation/expression.ts';
import { ExpressionSet } from '../src/analysis/rules/evaluation/expression-set.ts';
import { requiredLiterals } from '../src/analysis/rules/evaluation/required-literals.ts';
import type { ExpressionConfig } from '../src/analysis/rules/rule.ts';

const member = (config: ExpressionConfig) => ({ config, expression: compileExpression(config.pattern, config.flags) });

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
