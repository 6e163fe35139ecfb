import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { compileExpression, type Expression, type Pattern } from '../search/expression.ts';
import { ExpressionSet, type SetMember } from '../search/expression-set.ts';
import type { ScopedRule } from '../search/search-run.ts';
import type { Source } from '../search/texts.ts';
import { type ReadRule, RULE_TARGETS, type RuleCheckParts, searchType } from './rule-type.ts';

const config = Type.Object(
  {
    pattern: Type.String({ minLength: 1, maxLength: 4_096, description: 'An expression in the syntax of RE2.' }),
    flags: Type.Optional(Type.Enum(['', 'i'], { default: '', description: '`i`: any letter case.' })),
  },
  { additionalProperties: false, title: 'ExpressionConfig' },
);

/**
 * Types for the page and the creative, and types for requests, which belong to the page (spec 2.6) and search all of
 * them.
 */
const OF_TARGET = { targets: RULE_TARGETS, scope: 'target' } as const;
const OF_REQUESTS = { targets: ['page'], scope: 'all' } as const;
type Pieces = { source: Source } & (typeof OF_TARGET | typeof OF_REQUESTS);

/** Expressions over the redirect chain. */
export const regexpUrl = overUrls('regexp_url', { source: 'chain', ...OF_TARGET });
/** Expressions over the URLs of all requests. */
export const regexpRequestUrl = overUrls('regexp_request_url', { source: 'requests', ...OF_REQUESTS });
/** Expressions over titles, visible texts and HTML. */
export const regexpContent = overTexts('regexp_content', { source: 'documents', ...OF_TARGET });
/** Expressions over the bodies of responses. */
export const regexpRequestBody = overTexts('regexp_request_body', { source: 'bodies', ...OF_REQUESTS });

/** Many expressions over many short texts: a set finds which of them match, and each of these finds where. */
type UrlPass = { rules: ScopedRule[]; set: ExpressionSet; members: { rule: ScopedRule; expression: Expression }[] };

function overUrls<Name extends string>(type: Name, pieces: Pieces) {
  return searchType({
    type,
    config,
    ...pieces,
    issues,
    read,
    cost: 'url_automaton',
    compile: (rules): UrlPass[] => [
      {
        rules: rules.map(({ rule }) => rule),
        set: new ExpressionSet(rules.map((one) => one.read)),
        members: rules.map((one) => ({ rule: one.rule, expression: one.read.expression })),
      },
    ],
    match: ({ set, members }, texts, run) => {
      for (const text of texts) {
        for (const index of set.match(text.text, (at) => run.wants(members[at]!.rule, text))) {
          const { rule, expression } = members[index]!;
          if (!run.wants(rule, text)) continue;
          const hit = run.timed(rule, () => expression.find(text.text));
          if (hit) run.add(rule, text, text.text, hit.start, hit.end);
        }
        if (run.budget.isSpent) return false;
      }
      return true;
    },
  });
}

/** One expression over few large texts. */
type TextPass = { rules: [ScopedRule]; expression: Expression };

function overTexts<Name extends string>(type: Name, pieces: Pieces) {
  return searchType({
    type,
    config,
    ...pieces,
    issues,
    read,
    cost: 'rule_by_rule',
    compile: (rules: ReadRule<SetMember>[]) =>
      rules.map((one): TextPass => ({ rules: [one.rule], expression: one.read.expression })),
    match: ({ rules: [rule], expression }, texts, run) => {
      for (const text of texts) {
        if (run.wants(rule, text)) {
          const hit = run.timed(rule, () => expression.find(text.text));
          if (hit) run.add(rule, text, text.text, hit.start, hit.end);
        }
        if (run.budget.isSpent) return false;
      }
      return true;
    },
  });
}

function read(written: Pattern): SetMember {
  return { config: written, expression: compileExpression(written.pattern, written.flags) };
}

/** Whether RE2 accepts the pattern: asked in a thread, so that no pattern holds up the process. */
async function issues({ pattern }: Pattern, { problemsOf }: RuleCheckParts): Promise<Issue[]> {
  const [problem] = await problemsOf([pattern]);
  if (!problem) return [];
  return [{ loc: ['pattern'], msg: `RE2 refuses this expression: ${problem}.`, type: 'regexp', ctx: given(pattern) }];
}
