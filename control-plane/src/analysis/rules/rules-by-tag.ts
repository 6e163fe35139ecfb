import { type RuleRecord, slugsAssignedBy, slugsReadBy } from './rule.ts';
import type { RuleStore } from './rule-store.ts';

/** Reads an organization's and the platform's rules once; answers those that assign a tag or, as combos, ask for it. */
export async function rulesByTag(
  rules: Pick<RuleStore, 'visibleTo'>,
  organizationId: string,
): Promise<(slug: string) => RuleRecord[]> {
  const all = await rules.visibleTo(organizationId);
  return (slug) => all.filter((rule) => slugsAssignedBy(rule).includes(slug) || slugsReadBy(rule).includes(slug));
}
