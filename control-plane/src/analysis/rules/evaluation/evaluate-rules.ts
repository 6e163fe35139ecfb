import type { Tags } from '../../../reference/tags/tag-definitions.ts';
import { inService } from '../../../reference/tags/tag-definitions.ts';
import { matchWords } from '../../../scan/place-words.ts';
import type { Finding } from '../../detectors/finding.ts';
import { isCombo, isSearch, type Rule, type SearchRule, slugsAssignedBy, slugsReadBy } from '../rule.ts';
import { RULE_TYPES } from '../rule-types/index.ts';
import type { FoundTag } from '../rule-types/rule-type.ts';
import type { RuleMatch } from '../search/search-run.ts';
import type { GroupOutcome, PackedEvidence, RunRules } from './rule-job.ts';

/**
 * What the rules of a scan found; `skipped`: those that did not see everything before the budget was spent; `unreadable`: those that
 * cannot be run.
 */
export type RuleFindings = { findings: Finding[]; skipped: Rule[]; unreadable: Rule[] };

/** Rules with a tag in service, and whose inputs are (spec 2.5): no other can fire. */
export function rulesInService(rules: Rule[], tags: Tags): Rule[] {
  return rules
    .filter((rule) => slugsAssignedBy(rule).some((slug) => inService(tags, slug) !== null))
    .filter((rule) => slugsReadBy(rule).every((slug) => inService(tags, slug) !== null));
}

/**
 * Runs the rules that search texts, the platform's before the organization's, within one budget (in ms of CPU). Rules that were not
 * through when it was spent, and found nothing until then, are skipped.
 */
export async function searchTexts(
  threads: { run: RunRules },
  rules: Rule[],
  evidence: PackedEvidence,
  budgetMs: number,
): Promise<RuleFindings> {
  const search = rules.filter(isSearch);
  if (search.length === 0) return { findings: [], skipped: [], unreadable: [] };
  const groups = [search.filter(isOfPlatform), search.filter((rule) => !isOfPlatform(rule))];
  const job = { evidence, groups: groups.map((group) => JSON.stringify(group)), budgetMs, shared: true };
  const outcomes = await threads.run(job);
  return {
    findings: outcomes.flatMap(({ matches }) => findingsOf(search, matches)),
    skipped: groups.flatMap((group, at) => unfinished(group, outcomes[at]!)),
    unreadable: groups.flatMap((group, at) => group.filter(({ id }) => outcomes[at]!.unreadable.includes(id))),
  };
}

const isOfPlatform = ({ organization_id }: Rule): boolean => organization_id === null;

/** Rules that did not see everything and found nothing in what they saw. */
function unfinished(rules: SearchRule[], { finished, matches, unreadable }: GroupOutcome): SearchRule[] {
  const through = new Set([...finished, ...unreadable, ...matches.map(({ rule_id }) => rule_id)]);
  return rules.filter(({ id }) => !through.has(id));
}

/** The findings that matches of these rules are, with what explains them. */
export function findingsOf(rules: Rule[], matches: RuleMatch[]): Finding[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return matches.flatMap((match): Finding[] => {
    const rule = byId.get(match.rule_id);
    if (!rule) return [];
    const { surface, place, landing, start, excerpt, elapsed_ms, url } = match;
    const detail = `Rule "${rule.name}": ${matchWords({ place, landing, offset: start })}: ${excerpt}`;
    const explained = {
      rule_id: rule.id,
      rule_name: rule.name,
      rule_type: rule.rule_type,
      place,
      landing,
      offset: start,
      excerpt,
      elapsed_ms,
    };
    return [{ tag_slug: rule.tag_slug, detail, url, surface, match: explained }];
  });
}

/** What combos find among the tags that everything else found. They run once, so that none is the input of another. */
export function matchCombos(rules: Rule[], found: Finding[], tags: Tags, links: string[]): Finding[] {
  const inputs = found.flatMap(({ tag_slug, url }): FoundTag[] => {
    const tag = inService(tags, tag_slug);
    return tag ? [{ tag_slug, url, category: tag.category }] : [];
  });
  return rules.filter(isCombo).flatMap(({ rule_type, config, name, tag_slug }) => {
    const type = RULE_TYPES[rule_type];
    return type.match(config, inputs, links).map((url): Finding => {
      return { tag_slug, detail: `Rule "${name}": ${type.describe(config)}`, url, surface: 'page' };
    });
  });
}
