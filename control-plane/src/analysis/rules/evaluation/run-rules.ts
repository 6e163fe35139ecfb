import type { Surface } from '@adsweep/shared/capture/network-request.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { PackedScan } from '../../evidence/packed-scan.ts';
import { type ModelSubject, modelSubject } from '../../model/model-evidence.ts';
import type { SearchRule } from '../rule.ts';
import { RULE_TYPES } from '../rule-types/index.ts';
import { type CompiledSearch, type RuleTarget, SEARCH_COSTS, type SearchPass } from '../rule-types/rule-type.ts';
import { Budget } from '../search/budget.ts';
import { type RuleMatch, type ScopedRule, SearchRun } from '../search/search-run.ts';
import { SOURCES, type Source, type Texts } from '../search/texts.ts';

/**
 * Groups of search rules to run over one scan, one after the other. Each is a JSON array, so that its compiled form can
 * be found again by that text. `shared`: one budget for all groups (a scan) or one for each (rule tests); in ms of CPU.
 */
export type RuleSearch = { groups: string[]; budgetMs: number; shared: boolean };

/**
 * What one group found. `finished`: ids of the rules that have searched all their texts; `unreadable`: of those that
 * cannot be run.
 */
export type GroupResult = { matches: RuleMatch[]; finished: string[]; unreadable: string[]; elapsed_ms: number };

/** How a group ended: normally (also when its budget was spent), or with its thread, which had to be ended. */
export type GroupOutcome = GroupResult & { ended: 'run' | 'killed' };

/**
 * What combos and AI rules look at instead of texts: the links of all redirect chains, and what a model may be shown.
 */
export type RuleInputs = { links: string[]; subject: ModelSubject };

export const ruleInputs = (judged: Evidence): RuleInputs => ({
  links: judged.landings.flatMap(({ redirect_chain }) => redirect_chain.map(({ url }) => url)),
  subject: modelSubject(judged),
});

/** Tries groups of rules on evidence in a thread, each within a budget of its own, in ms of CPU. */
export type TryRules = (
  evidence: PackedScan,
  groups: string[],
  budgetMs: number,
) => { inputs: Promise<RuleInputs>; outcomes: Promise<GroupOutcome[]> };

/**
 * What a search reports: that a group begins, and the results of a group so far, of its matches only those since the
 * last report.
 */
export type SearchProgress = { began: number } | { group: number; result: GroupResult };

/** Runs the groups of a search over the texts of a scan, and reports the last result of each when it ends. */
export function runSearch(
  { groups, budgetMs, shared }: RuleSearch,
  texts: Texts,
  report: (progress: SearchProgress) => void,
): void {
  const compiled = groups.map(compiledOf);
  const ofAll = new Budget(budgetMs);
  compiled.forEach((rules, group) => {
    report({ began: group });
    const budget = shared ? ofAll : new Budget(budgetMs);
    const began = budget.now();
    let reported = 0;
    const progress = ({ matches, finished }: RuleResults) => {
      const elapsed_ms = Math.ceil(budget.now() - began);
      const found = matches.slice(reported);
      reported = matches.length;
      const result = { matches: found, finished: [...finished], unreadable: rules.unreadable, elapsed_ms };
      report({ group, result });
    };
    progress(runRules(rules, texts, budget, progress));
  });
}

/** The groups that were used last, compiled. */
const cache = new Map<string, CompiledRules>();
const CACHED_MAX = 16;
/** Compiled words take up to twenty times as much memory as their text. */
const CACHED_CHARACTERS_MAX = 6 * 1024 * 1024;

function compiledOf(group: string): CompiledRules {
  const rules = cache.get(group) ?? compileRules(JSON.parse(group) as SearchRule[]);
  // Moves the group to the end, so that the first one is the least recently used.
  cache.delete(group);
  cache.set(group, rules);
  const isTooLarge = () => [...cache.keys()].reduce((sum, { length }) => sum + length, 0) > CACHED_CHARACTERS_MAX;
  while (cache.size > CACHED_MAX || (cache.size > 1 && isTooLarge())) cache.delete(cache.keys().next().value!);
  return rules;
}

/**
 * Rules with everything prepared that can be prepared before there are texts. `passes` are in the order in which they
 * run.
 */
type CompiledRules = {
  passes: (SearchPass & { source: Source })[];
  /**
   * Ids of rules that cannot be read, for example because another version stored them. They do not affect the others.
   */
  unreadable: string[];
};

/** What rules have found so far, and the ids of those that have searched all their texts. */
type RuleResults = { matches: RuleMatch[]; finished: Set<string> };

/** The types whose rules search texts, cheapest first. */
const SEARCH_TYPES = Object.values(RULE_TYPES)
  .filter((type) => type.source !== 'tags' && type.source !== 'model')
  .toSorted(
    (one, other) =>
      SEARCH_COSTS.indexOf(one.cost) - SEARCH_COSTS.indexOf(other.cost) ||
      SOURCES.indexOf(one.source) - SOURCES.indexOf(other.source),
  );

function compileRules(rules: SearchRule[]): CompiledRules {
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
 * Runs rules over the texts of a scan, the cheapest first. Ends when the budget is spent: matches that were found until
 * then stay, and `finished` lacks the rules that have not searched everything. `progress` is called after each pass.
 */
function runRules(
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
