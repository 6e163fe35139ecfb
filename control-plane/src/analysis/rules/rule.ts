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
  'llm',
] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** The parts of a scan that a rule can look at. */
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

/** The prompt of a client's AI rule, and the tags that the model may assign, with the meaning of each. */
export type LlmConfig = { prompt: string; tags: Record<string, string> };

/** A rule's condition: its type with the configuration of that type. */
export type Condition =
  | { rule_type: 'stopword_content' | 'stopword_url'; config: WordsConfig }
  | {
      rule_type: 'regexp_content' | 'regexp_url' | 'regexp_request_url' | 'regexp_request_body';
      config: ExpressionConfig;
    }
  | { rule_type: 'blacklist_domain'; config: DomainsConfig }
  | { rule_type: 'combo'; config: ComboConfig }
  | { rule_type: 'llm'; config: LlmConfig };

/** What is evaluated on a scan: `organization_id` null = a rule of the platform, which runs first. `tag_slug` of an AI rule is ''. */
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

/** Whether a rule looks at the tags of others. */
export const isCombo = <R extends { rule_type: RuleType }>(rule: R): rule is R & { rule_type: 'combo' } =>
  rule.rule_type === 'combo';

/** Whether a rule is judged by a model. */
export const isLlm = <R extends { rule_type: RuleType }>(rule: R): rule is R & { rule_type: 'llm' } =>
  rule.rule_type === 'llm';

/** A rule that searches texts. */
export type SearchRule = Exclude<Rule, { rule_type: 'combo' | 'llm' }>;
export const isSearch = (rule: Rule): rule is SearchRule => !isCombo(rule) && !isLlm(rule);

/** The tags that a rule can assign: an AI rule those of its configuration, whatever that is, any other its own. */
export function slugsAssignedBy({ rule_type, tag_slug, config }: TagAssigner): string[] {
  return rule_type === 'llm' ? Object.keys((config as Partial<LlmConfig> | undefined)?.tags ?? {}) : [tag_slug];
}

type TagAssigner = { rule_type?: RuleType; tag_slug: string; config?: unknown };
