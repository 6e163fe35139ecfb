import type { Tags } from '../../reference/tags/tag-definitions.ts';
import { RULE_TYPES } from './rule-types/index.ts';
import type { ModelType, RuleTarget, SearchType, TagType } from './rule-types/rule-type.ts';
import type { Source } from './search/texts.ts';

type Types = typeof RULE_TYPES;
/** The name of a rule type (spec 2.6). */
export type RuleType = keyof Types;
export const RULE_TYPE_NAMES = Object.keys(RULE_TYPES) as RuleType[];

/** The configuration of a type's rules. */
export type ConfigOf<T extends RuleType> = Types[T] extends
  | SearchType<string, infer C>
  | TagType<string, infer C>
  | ModelType<string, infer C>
  ? C
  : never;
type TypesOver<S> = { [T in RuleType]: Types[T]['source'] extends S ? T : never }[RuleType];

/** A rule's condition: its type with the configuration of that type. */
export type Condition = { [T in RuleType]: { rule_type: T; config: ConfigOf<T> } }[RuleType];

/**
 * What is evaluated on a scan: `organization_id` null = a rule of the platform, which runs first. `tag_slug` of an AI
 * rule is ''.
 */
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
  /** Size of `config`, in bytes of JSON; earlier versions did not store it. */
  config_bytes?: number;
  created_at: Date;
};

/** The size of a configuration, in bytes of JSON. */
export const bytesOf = (config: unknown): number => Buffer.byteLength(JSON.stringify(config));

/** A stored rule as it is evaluated. Its configuration was checked when it was stored. */
export function ruleOf({ _id, organization_id, name, tag_slug, target, rule_type, config }: RuleRecord): Rule {
  return { id: _id, organization_id, name, tag_slug, target, ...({ rule_type, config } as Condition) };
}

/** What a rule reads: a source of texts, `tags` or `model`; null: a type that only another version knows. */
const sourceOf = (type: string | undefined): Source | 'tags' | 'model' | null =>
  type !== undefined && Object.hasOwn(RULE_TYPES, type) ? RULE_TYPES[type as RuleType].source : null;

/** A rule over the tags that everything else found. */
export type ComboRule = Extract<Rule, { rule_type: TypesOver<'tags'> }>;
export const isCombo = (rule: Rule): rule is ComboRule => sourceOf(rule.rule_type) === 'tags';

/** A rule that an AI model decides. */
export type ModelRule = Extract<Rule, { rule_type: TypesOver<'model'> }>;
export const isModelRule = (rule: Rule): rule is ModelRule => isModelType(rule.rule_type);
export const isModelType = (type: RuleType | undefined): type is TypesOver<'model'> => sourceOf(type) === 'model';

/** A rule that searches texts, and a rule of an unknown type, which the search reports as unreadable. */
export type SearchRule = Extract<Rule, { rule_type: TypesOver<Source> }>;
export const isSearch = (rule: Rule): rule is SearchRule => !isCombo(rule) && !isModelRule(rule);

/** The source that a rule searches; null for a rule that searches no texts. */
export function searchedBy(rule: Rule): Source | null {
  const source = sourceOf(rule.rule_type);
  return source === 'tags' || source === 'model' ? null : source;
}

/** The tags that a rule can assign: an AI rule those of its configuration, any other its own. */
export function slugsAssignedBy({ rule_type, tag_slug, config }: TagAssigner): string[] {
  return isModelType(rule_type) ? Object.keys(RULE_TYPES[rule_type].tags(config ?? {})) : [tag_slug];
}

type TagAssigner = { rule_type?: RuleType; tag_slug: string; config?: unknown };

/** The tags that a rule looks at. */
export const slugsReadBy = ({ rule_type, config }: Pick<RuleRecord, 'rule_type' | 'config'>): string[] =>
  sourceOf(rule_type) === 'tags' ? RULE_TYPES[rule_type as TypesOver<'tags'>].inputs(config as never) : [];

/** Why no scan can match a rule as the tags are, which are those that it can look at; null: one can. */
export const unmetBy = ({ rule_type, config }: Pick<RuleRecord, 'rule_type' | 'config'>, tags: Tags): string | null =>
  sourceOf(rule_type) === 'tags' ? RULE_TYPES[rule_type as TypesOver<'tags'>].unmet(config as never, tags) : null;

/** The tags that a rule assigns or looks at. */
export const slugsNamedBy = (rule: Pick<RuleRecord, 'rule_type' | 'config' | 'tag_slug'>): string[] => [
  ...slugsAssignedBy(rule),
  ...slugsReadBy(rule),
];

/** Whether organizations may know of a rule: not of one of the platform that names a `hidden` tag (spec 2.5). */
export const isKnown = (
  rule: Pick<RuleRecord, 'organization_id' | 'rule_type' | 'config' | 'tag_slug'>,
  hidden: ReadonlySet<string>,
): boolean => rule.organization_id !== null || !slugsNamedBy(rule).some((slug) => hidden.has(slug));
