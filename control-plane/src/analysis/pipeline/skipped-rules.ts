import { inService, type Tags, visibleTags } from '../../reference/tags/tag-definitions.ts';
import type { SkippedRules } from '../../scan/scan.ts';
import { type Rule, slugsAssignedBy } from '../rules/rule.ts';

/** Rules that are listed with a scan. */
const LISTED_MAX = 50;
/** Rules that the error of a scan names; of further ones it has the count. */
const NAMED_MAX = 5;

/** Of skipped rules, those that the organization of the scan may know: not the platform's that assign a hidden tag. */
export function skippedRules(rules: readonly Rule[], definitions: Tags): SkippedRules {
  const visible = visibleTags(definitions);
  const known = rules.filter(
    (rule) => rule.organization_id !== null || slugsAssignedBy(rule).some((slug) => inService(visible, slug) !== null),
  );
  return {
    total: known.length,
    rules: known.slice(0, LISTED_MAX).map(({ id, name, rule_type }) => ({ rule_id: id, rule_name: name, rule_type })),
  };
}

/** The entry of a scan's error about rules that have no result for a reason; none if there are no such rules. */
export function withoutResult(reason: string, rules: readonly Rule[]): string[] {
  if (rules.length === 0) return [];
  const names = rules.slice(0, NAMED_MAX).map(({ name }) => `"${name}"`);
  const more = rules.length > names.length ? [`${rules.length - names.length} more`] : [];
  return [`${reason}: ${[...names, ...more].join(' ')}`];
}
