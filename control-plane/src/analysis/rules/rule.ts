/** Kinds of rules (spec 2.6). */
export const RULE_TYPES = [
  'stopword_content',
  'stopword_url',
  'regexp_content',
  'regexp_url',
  'regexp_request_url',
  'regexp_request_body',
  'blacklist_domain',
  'combo',
] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** What of a scan a rule looks at. */
export const RULE_TARGETS = ['page', 'creative', 'creative_and_page'] as const;
export type RuleTarget = (typeof RULE_TARGETS)[number];

export type WordsConfig = { contains: string[] };
export type ExpressionConfig = { pattern: string; flags?: '' | 'i' };
export type DomainsConfig = { domains: string[] };
export type ComboConfig = {
  match_scope?: 'scan' | 'url';
  all_of?: string[];
  any_of?: string[];
  any_of_min?: number;
  none_of?: string[];
  tag_category?: string;
  count_gte?: number;
};

/** A rule's condition: its type with the configuration of that type. */
export type Condition =
  | { rule_type: 'stopword_content' | 'stopword_url'; config: WordsConfig }
  | {
      rule_type: 'regexp_content' | 'regexp_url' | 'regexp_request_url' | 'regexp_request_body';
      config: ExpressionConfig;
    }
  | { rule_type: 'blacklist_domain'; config: DomainsConfig }
  | { rule_type: 'combo'; config: ComboConfig };

/** What is evaluated on a scan: `organization_id` null = a rule of the platform, which runs first. */
export type Rule = Condition & {
  id: string;
  organization_id: string | null;
  name: string;
  tag_slug: string;
  target: RuleTarget;
};

/** A stored rule. `built_in`: it comes with Adsweep; the operator can change it and cannot delete it. */
export type RuleRecord = Omit<Rule, 'id' | 'rule_type' | 'config'> & {
  _id: string;
  owner: string;
  rule_type: RuleType;
  config: Condition['config'];
  is_active: boolean;
  built_in?: boolean;
  created_at: Date;
};

/** A stored rule as it is evaluated. Its configuration was checked when it was stored. */
export function ruleOf({ _id, organization_id, name, tag_slug, target, rule_type, config }: RuleRecord): Rule {
  return { id: _id, organization_id, name, tag_slug, target, ...({ rule_type, config } as Condition) };
}

/** The part of a rule that combos refer to. */
export const isCombo = <R extends { rule_type: RuleType }>(rule: R): rule is R & { rule_type: 'combo' } =>
  rule.rule_type === 'combo';
