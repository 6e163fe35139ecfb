import { Type } from 'typebox';
import { decodeUrl } from '../search/decode-url.ts';
import type { ScopedRule } from '../search/search-run.ts';
import type { Source } from '../search/texts.ts';
import { foldText, WordAutomaton } from '../search/word-automaton.ts';
import { RULE_TARGETS, searchType } from './rule-type.ts';

const config = Type.Object(
  {
    contains: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      minItems: 1,
      maxItems: 1_000,
      description: 'A rule matches where any of these stands, in any letter case.',
    }),
  },
  { additionalProperties: false, title: 'WordsConfig' },
);

/** The words of several rules in one automaton; `owners[word]` is the rule of that word. */
type WordPass = { rules: ScopedRule[]; automaton: WordAutomaton; owners: ScopedRule[] };

/** Words in the redirect chain, whose URLs are searched as they were requested and decoded. */
export const stopwordUrl = stopwords('stopword_url', 'chain', (url) => [...new Set([url, decodeUrl(url)])]);
/** Words in titles, visible texts and HTML. */
export const stopwordContent = stopwords('stopword_content', 'documents', (text) => [text]);

/** `formsOf` returns the forms in which a text is searched. */
function stopwords<Name extends string>(type: Name, source: Source, formsOf: (text: string) => string[]) {
  return searchType({
    type,
    config,
    targets: RULE_TARGETS,
    issues: () => [],
    source,
    cost: 'word_pass',
    scope: 'target',
    read: ({ contains }) => contains.map(textOnly),
    compile: (rules): WordPass[] => {
      const words = rules.flatMap(({ rule, read }) => read.map((word) => ({ rule, word })));
      const automaton = new WordAutomaton(words.map(({ word }) => word));
      return [{ rules: rules.map(({ rule }) => rule), automaton, owners: words.map(({ rule }) => rule) }];
    },
    match: ({ automaton, owners }, texts, run) => {
      for (const text of texts) {
        for (const folded of formsOf(text.text).map(foldText))
          automaton.search(folded, ({ word, start, end }) => {
            const rule = owners[word]!;
            if (run.wants(rule, text)) run.add(rule, text, folded, start, end);
          });
        if (run.budget.isSpent) return false;
      }
      return true;
    },
  });
}

function textOnly(word: unknown): string {
  if (typeof word !== 'string') throw new TypeError('a stopword must be a text');
  return word;
}
