import { pause } from '@adsweep/shared/service/time-slice.ts';
import { inService, isOperatorsTag, type Tags, visibleTags } from '../../../reference/tags/tag-definitions.ts';
import { matchWords } from '../../../scan/place-words.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { Need } from '../../evidence/evidence.ts';
import {
  type ComboRule,
  isCombo,
  isModelRule,
  isSearch,
  type Rule,
  searchedBy,
  slugsAssignedBy,
  slugsReadBy,
} from '../rule.ts';
import { RULE_TYPES } from '../rule-types/index.ts';
import type { FoundTag } from '../rule-types/rule-type.ts';
import type { RuleMatch } from '../search/search-run.ts';
import { NEEDS_OF } from '../search/texts.ts';
import type { GroupResult, RuleSearch } from './run-rules.ts';

/** Rules that assign a tag in service and read only tags in service (spec 2.5). No other rule can match. */
export function rulesInService(rules: Rule[], tags: Tags): Rule[] {
  const isInService = (slug: string) => inService(tags, slug) !== null;
  return rules.filter((rule) => slugsAssignedBy(rule).some(isInService) && slugsReadBy(rule).every(isInService));
}

/** The parts of the evidence that these rules look at. */
export const needsOf = (rules: Rule[]): Set<Need> =>
  new Set(
    rules.flatMap((rule): readonly Need[] => {
      const source = isModelRule(rule) ? 'documents' : searchedBy(rule);
      return source === null ? [] : NEEDS_OF[source];
    }),
  );

/**
 * The search of a scan's rules: the platform's before the organization's, within one budget in ms of CPU. Null: none
 * searches texts.
 */
export function searchOf(rules: Rule[], budgetMs: number): RuleSearch | null {
  const groups = searchGroups(rules);
  if (groups.every((group) => group.length === 0)) return null;
  return { groups: groups.map((group) => JSON.stringify(group)), budgetMs, shared: true };
}

function searchGroups(rules: Rule[]): Rule[][] {
  const search = rules.filter(isSearch);
  const isOfPlatform = ({ organization_id }: Rule): boolean => organization_id === null;
  return [search.filter(isOfPlatform), search.filter((rule) => !isOfPlatform(rule))];
}

/**
 * What the search of a scan found. `skipped`: rules that found nothing before the budget was spent, and had not
 * searched everything; `unreadable`: rules that cannot be run.
 */
export type SearchFindings = { findings: Finding[]; skipped: Rule[]; unreadable: Rule[] };

/** The findings of a search that `searchOf` made of these rules. */
export function searchFindings(rules: Rule[], results: GroupResult[]): SearchFindings {
  const groups = searchGroups(rules);
  return {
    findings: results.flatMap(({ matches }) => findingsOf(rules, matches)),
    skipped: results.flatMap((result, at) => skippedIn(groups[at]!, result)),
    unreadable: results.flatMap(({ unreadable }, at) => groups[at]!.filter(({ id }) => unreadable.includes(id))),
  };
}

function skippedIn(rules: Rule[], { finished, matches, unreadable }: GroupResult): Rule[] {
  const done = new Set([...finished, ...unreadable, ...matches.map(({ rule_id }) => rule_id)]);
  return rules.filter(({ id }) => !done.has(id));
}

/** The findings of these matches, each with what explains it. */
export function findingsOf(rules: Rule[], matches: RuleMatch[]): Finding[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return matches.flatMap((match): Finding[] => {
    const rule = byId.get(match.rule_id);
    if (!rule) return [];
    const { surface, place, landing, start: offset, excerpt, elapsed_ms, url } = match;
    const detail = `Rule "${rule.name}": ${matchWords({ place, landing, offset })}: ${excerpt}`;
    const ofRule = { rule_id: rule.id, rule_name: rule.name, rule_type: rule.rule_type };
    const explained = { ...ofRule, place, landing, offset, excerpt, elapsed_ms };
    return [{ tag_slug: rule.tag_slug, detail, url, surface, match: explained }];
  });
}

/**
 * Finds what a combo matches among the tags that everything else found: no combo reads the tag of another, and those of
 * organizations no hidden one.
 */
export function comboMatcher(found: Finding[], tags: Tags, links: string[]): (rule: ComboRule) => Finding[] {
  const inputsAmong = (seen: Tags) =>
    found.flatMap(({ tag_slug, url, of_combo }): FoundTag[] => {
      const tag = of_combo ? null : inService(seen, tag_slug);
      return tag ? [{ tag_slug, url, category: tag.category }] : [];
    });
  const [ofPlatform, ofOrganization] = [inputsAmong(tags), inputsAmong(visibleTags(tags))];
  return ({ rule_type, config, name, tag_slug, organization_id }) => {
    const type = RULE_TYPES[rule_type];
    // Organizations see this tag, and not those that only the operator sees.
    const isSecret = type.inputs(config).some((slug) => tags.has(slug) && isOperatorsTag(tags.get(slug)!));
    const detail = isSecret ? `Rule "${name}"` : `Rule "${name}": ${type.describe(config)}`;
    const urls = type.match(config, organization_id === null ? ofPlatform : ofOrganization, links);
    return urls.map((url) => ({ tag_slug, detail, url, surface: 'page', of_combo: true }));
  };
}

/**
 * The findings of all combos among these rules, which run once, after everything else; there may be hundreds, so other
 * work runs in between.
 */
export async function matchCombos(rules: Rule[], found: Finding[], tags: Tags, links: string[]): Promise<Finding[]> {
  const match = comboMatcher(found, tags, links);
  const findings: Finding[] = [];
  for (const rule of rules.filter(isCombo)) {
    findings.push(...match(rule));
    await pause();
  }
  return findings;
}
