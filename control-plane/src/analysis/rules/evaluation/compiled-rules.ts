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
  /** Rules that cannot be read: what another version stored, say. They take no other with them. */
  unreadable: SearchRule[];
  /** By domain name: the rules that name it. */
  domains: Map<string, SearchRule[]>;
  words: WordGroup[];
  urls: UrlGroup[];
  contents: ContentRule[];
};

export function compileRules(written: SearchRule[]): CompiledRules {
  const expressions: Expressions = new Map();
  const isReadable = new Map(written.map((rule) => [rule, canRead(rule, expressions)]));
  const all = written.filter((rule) => isReadable.get(rule));
  const of = { all, expressions };
  return {
    unreadable: written.filter((rule) => !isReadable.get(rule)),
    domains: domainsOf(all),
    words: (['stopword_url', 'stopword_content'] as const).flatMap((type) => wordGroup(all, type)),
    urls: (['regexp_url', 'regexp_request_url'] as const).flatMap((type) => urlGroup(of, type)),
    contents: (['regexp_content', 'regexp_request_body'] as const).flatMap((type) => contentRules(of, type)),
  };
}

type Expressions = Map<SearchRule, Expression>;
type Readable = { all: SearchRule[]; expressions: Expressions };

/** Whether a rule can be run; its expression, where it is one, is kept in `expressions`. */
function canRead(rule: SearchRule, expressions: Expressions): boolean {
  const { rule_type, config } = rule as { rule_type: RuleType; config: AnyConfig | null };
  if (rule_type === 'blacklist_domain') return areTexts(config?.domains);
  if (rule_type === 'stopword_url' || rule_type === 'stopword_content') return areTexts(config?.contains);
  try {
    expressions.set(rule, compileExpression(config!.pattern!, config!.flags));
    return true;
  } catch {
    return false;
  }
}

type AnyConfig = Partial<WordsConfig & DomainsConfig & ExpressionConfig>;
const areTexts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === 'string');

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

function urlGroup(of: Readable, type: 'regexp_url' | 'regexp_request_url'): UrlGroup[] {
  const rules = compiled(of, type);
  if (rules.length === 0) return [];
  const set = new ExpressionSet(
    rules.map(({ rule, expression }) => ({ config: rule.config as ExpressionConfig, expression })),
  );
  return [{ source: SOURCE_OF[type], set, rules }];
}

const contentRules = (of: Readable, type: 'regexp_content' | 'regexp_request_body'): ContentRule[] =>
  compiled(of, type).map((one) => ({ source: SOURCE_OF[type], ...one }));

const compiled = ({ all, expressions }: Readable, type: RuleType) =>
  ofType(all, type).map((rule) => ({ rule, expression: expressions.get(rule)! }));
