import { slugsOf } from './evaluation/combos.ts';
import type { ComboConfig, RuleRecord } from './rule.ts';
import type { RuleStore } from './rule-store.ts';

/** The rules of an organization and of the platform that assign a tag or, as combos, ask for it. */
export async function rulesWithTag(
  rules: Pick<RuleStore, 'visibleTo'>,
  organizationId: string,
  slug: string,
): Promise<RuleRecord[]> {
  const all = await rules.visibleTo(organizationId);
  return all.filter((rule) => rule.tag_slug === slug || inputsOf(rule).includes(slug));
}

const inputsOf = ({ rule_type, config }: RuleRecord): string[] =>
  rule_type === 'combo' ? slugsOf(config as ComboConfig) : [];
