import type { SearchRule } from '../rule.ts';
import { RULE_TYPES } from '../rule-types/index.ts';
import { type CompiledSearch, type RuleTarget, SEARCH_COSTS, type SearchPass } from '../rule-types/rule-type.ts';
import type { Budget } from '../search/budget.ts';
import { type RuleMatch, type ScopedRule, SearchRun } from '../search/search-run.ts';
import { SOURCES, type Source, type Surface, type Texts } from '../search/texts.ts';

/** Rules with everything prepared that can be prepared before there are texts. `passes` are in the order in which they run. */
export type CompiledRules = {
  passes: (SearchPass & { source: Source })[];
  /** Ids of rules that cannot be read, for example because another version stored them. They do not affect the others. */
  unreadable: string[];
};

/** What rules have found so far, and the ids of those that have searched all their texts. */
export type RuleResults = { matches: RuleMatch[]; finished: Set<string> };

/** The types whose rules search texts, cheapest first. */
const SEARCH_TYPES = Object.values(RULE_TYPES)
  .filter((type) => type.source !== 'tags' && type.source !== 'model')
  .toSorted(
    (one, other) =>
      SEARCH_COSTS.indexOf(one.cost) - SEARCH_COSTS.indexOf(other.cost) ||
      SOURCES.indexOf(one.source) - SOURCES.indexOf(other.source),
  );

export function compileRules(rules: SearchRule[]): CompiledRules {
  const byType = Map.groupBy(rules, ({ rule_type }) => rule_type as string);
  const known = new Set<string>(SEARCH_TYPES.map(({ type }) => type));
  const compiled = SEARCH_TYPES.flatMap((type) => {
    const scoped = (byType.get(type.type) ?? []).map((rule) => ({
      rule: { id: rule.id, surfaces: type.scope === 'all' ? BOTH : SURFACES[rule.target] } satisfies ScopedRule,
      config: rule.config as never,
    }));
    const { passes, unreadable }: CompiledSearch = type.compile(scoped);
    return [{ passes: passes.map((pass) => ({ ...pass, source: type.source })), unreadable }];
  });
  const ofUnknownType = rules.filter(({ rule_type }) => !known.has(rule_type)).map(({ id }) => id);
  return {
    passes: compiled.flatMap(({ passes }) => passes),
    unreadable: [...compiled.flatMap(({ unreadable }) => unreadable), ...ofUnknownType],
  };
}

const BOTH: readonly Surface[] = ['page', 'creative'];
const SURFACES: Record<RuleTarget, readonly Surface[]> = {
  page: ['page'],
  creative: ['creative'],
  creative_and_page: BOTH,
};

/**
 * Runs rules over the texts of a scan, the cheapest first. Ends when the budget is spent: matches that were found until then stay, and
 * `finished` lacks the rules that have not searched everything. `progress` is called after each pass.
 */
export function runRules(
  { passes }: CompiledRules,
  texts: Texts,
  budget: Budget,
  progress: (results: RuleResults) => void,
): RuleResults {
  const run = new SearchRun(budget);
  for (const { rules, source, match } of passes) {
    if (budget.isSpent || !match(texts(source), run)) break;
    for (const { id } of rules) run.finished.add(id);
    progress(run);
  }
  return run;
}
