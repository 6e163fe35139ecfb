import type { DomainsConfig, ExpressionConfig, RuleType, SearchRule, WordsConfig } from '../rule.ts';
import { compileExpression, type Expression } from './expression.ts';
import { ExpressionSet } from './expression-set.ts';
import { SOURCE_OF, type Source } from './texts.ts';
import { WordAutomaton } from './word-automaton.ts';

/** The words of several rules in one automaton; `owners[word]` is the rule of that word, `words[word]` the word itself. */
export type WordGroup = { source: Source; automaton: WordAutomaton; owners: SearchRule[] };
/** Expressions over many short texts: a set says which of them match, and each says where. */
export type UrlGroup = { source: Source; set: ExpressionSet; rules: { rule: SearchRule; expression: Expression }[] };
/** An expression over few large texts, by itself. */
export type ContentRule = { source: Source; rule: SearchRule; expression: Expression };

/** Rules as they are run: everything that can be prepared once is. */
export type CompiledRules = {
  all: SearchRule[];
  /** By domain name: the rules that name it. */
  domains: Map<string, SearchRule[]>;
  words: WordGroup[];
  urls: UrlGroup[];
  contents: ContentRule[];
};

export function compileRules(all: SearchRule[]): CompiledRules {
  return {
    all,
    domains: domainsOf(all),
    words: (['stopword_url', 'stopword_content'] as const).flatMap((type) => wordGroup(all, type)),
    urls: (['regexp_url', 'regexp_request_url'] as const).flatMap((type) => urlGroup(all, type)),
    contents: (['regexp_content', 'regexp_request_body'] as const).flatMap((type) => contentRules(all, type)),
  };
}

const ofType = (rules: SearchRule[], type: RuleType): SearchRule[] => rules.filter((rule) => rule.rule_type === type);

function domainsOf(all: SearchRule[]): Map<string, SearchRule[]> {
  const domains = new Map<string, SearchRule[]>();
  for (const rule of ofType(all, 'blacklist_domain'))
    for (const domain of new Set((rule.config as DomainsConfig).domains))
      domains.set(domain.toLowerCase(), [...(domains.get(domain.toLowerCase()) ?? []), rule]);
  return domains;
}

function wordGroup(all: SearchRule[], type: 'stopword_url' | 'stopword_content'): WordGroup[] {
  const words = ofType(all, type).flatMap((rule) =>
    (rule.config as WordsConfig).contains.map((word) => ({ rule, word })),
  );
  if (words.length === 0) return [];
  const automaton = new WordAutomaton(words.map(({ word }) => word));
  return [{ source: SOURCE_OF[type], automaton, owners: words.map(({ rule }) => rule) }];
}

function urlGroup(all: SearchRule[], type: 'regexp_url' | 'regexp_request_url'): UrlGroup[] {
  const rules = compiled(ofType(all, type));
  if (rules.length === 0) return [];
  const set = new ExpressionSet(
    rules.map(({ rule, expression }) => ({ config: rule.config as ExpressionConfig, expression })),
  );
  return [{ source: SOURCE_OF[type], set, rules }];
}

const contentRules = (all: SearchRule[], type: 'regexp_content' | 'regexp_request_body'): ContentRule[] =>
  compiled(ofType(all, type)).map((one) => ({ source: SOURCE_OF[type], ...one }));

const compiled = (rules: SearchRule[]) =>
  rules.map((rule) => {
    const { pattern, flags } = rule.config as ExpressionConfig;
    return { rule, expression: compileExpression(pattern, flags) };
  });
