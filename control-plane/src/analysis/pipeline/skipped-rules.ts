import { hiddenAmong, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { SkippedRules } from '../../scan/scan.ts';
import { isKnown, type Rule } from '../rules/rule.ts';

/** Rules that are listed with a scan. */
const LISTED_MAX = 50;
/** Rules that the error of a scan names; of further ones it has the count. */
const NAMED_MAX = 5;

/** Of these rules, those that the organization of the scan may know. */
function knownOf(rules: readonly Rule[], definitions: Tags): Rule[] {
  const hidden = new Set(hiddenAmong(definitions));
  return rules.filter((rule) => isKnown(rule, hidden));
}

/** Of skipped rules, those that the organization of the scan may know. */
export function skippedRules(rules: readonly Rule[], definitions: Tags): SkippedRules {
  const known = knownOf(rules, definitions);
  return {
    total: known.length,
    rules: known.slice(0, LISTED_MAX).map(({ id, name, rule_type }) => ({ rule_id: id, rule_name: name, rule_type })),
  };
}

/** The entry of a scan's error about rules that have no result for a reason; none if there are no such rules. */
export function withoutResult(reason: string, rules: readonly Rule[], definitions: Tags): string[] {
  if (rules.length === 0) return [];
  const names = knownOf(rules, definitions)
    .slice(0, NAMED_MAX)
    .map(({ name }) => `"${name}"`);
  const left = rules.length - names.length;
  const more = left > 0 ? [`${left} ${names.length > 0 ? 'more' : 'of the platform'}`] : [];
  return [`${reason}: ${[...names, ...more].join(' ')}`];
}
