import { slugsOf } from './evaluation/combos.ts';
import { type ComboConfig, type RuleRecord, slugsAssignedBy } from './rule.ts';
import type { RuleStore } from './rule-store.ts';

/** Reads an organization's and the platform's rules once; answers those that assign a tag or, as combos, ask for it. */
export async function rulesByTag(
  rules: Pick<RuleStore, 'visibleTo'>,
  organizationId: string,
): Promise<(slug: string) => RuleRecord[]> {
  const all = await rules.visibleTo(organizationId);
  return (slug) => all.filter((rule) => slugsAssignedBy(rule).includes(slug) || inputsOf(rule).includes(slug));
}

const inputsOf = ({ rule_type, config }: RuleRecord): string[] =>
  rule_type === 'combo' ? slugsOf(config as ComboConfig) : [];
