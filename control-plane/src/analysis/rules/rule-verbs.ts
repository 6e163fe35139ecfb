import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { ApiError, notFound, refused } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { type ReadTags, type TagDefinition, type Tags, visibleTags } from '../../reference/tags/tag-definitions.ts';
import { ruleIssues } from './check-rule.ts';
import { bytesOf, type Condition, isModelType, type RuleRecord, type RuleType, slugsAssignedBy } from './rule.ts';
import type { RuleIn, RulePut } from './rule-in.ts';
import { comboNeeding, type KeptRule, ownerOf, type RuleLinks, type RuleStore, rulesByTag } from './rule-store.ts';
import { RULE_TYPES } from './rule-types/index.ts';
import type { ProblemsOf } from './rule-types/rule-type.ts';

/** What writing rules needs. */
export type RuleVerbParts = {
  rules: RuleStore;
  readTags: ReadTags;
  registerTags: (tags: TagDefinition[], now: Date) => Promise<void>;
  /** Removes a tag, unless `findUser` finds what began to use it meanwhile. */
  removeTagUnlessUsed: <U>(
    tag: Pick<TagDefinition, 'organization_id' | 'slug'>,
    findUser: () => Promise<U | null>,
  ) => Promise<U | null>;
  /** Counts the organization's scans with a tag. */
  countScans: (organizationId: string, slug: string) => Promise<number>;
  /** The name of a policy set of the organization that names a tag; null: none does. */
  policySetNaming: (organizationId: string, slug: string) => Promise<string | null>;
  changeTag: (tag: TagDefinition, change: { visibility?: TagDefinition['visibility'] }) => Promise<void>;
  problemsOf: ProblemsOf;
};

/** The most rules of one owner: all of them run on every scan. */
const RULES_MAX = 500;
/** The most AI rules of one owner: each asks the model once for every scan. */
const MODEL_RULES_MAX = 10;
/**
 * The most bytes of JSON that the configurations of one owner's rules have together: all of them are read for every
 * scan.
 */
const CONFIG_BYTES_MAX = 4 * 1024 * 1024;

/** The owner of a new rule: only the operator may write the platform's. */
export function ownerFor(caller: Caller, scope: 'system' | 'personal'): string | null {
  if (scope === 'personal') return caller.organizationId;
  if (!isOperator(caller)) throw new ApiError('forbidden', "Only the operator's key can write rules of the platform.");
  return null;
}

/** A rule that this caller may change. */
export async function findOwnRule({ rules }: Pick<RuleVerbParts, 'rules'>, caller: Caller, id: string) {
  const rule = await rules.find(caller.organizationId, id);
  if (!rule) throw notFound('rule');
  ownerFor(caller, rule.organization_id === null ? 'system' : 'personal');
  return rule;
}

/** Stores a rule and registers its tags. A rule with this `id` and tags that exist already are not changed. */
export async function createRule(
  parts: RuleVerbParts,
  organizationId: string | null,
  written: RuleIn & { id: string },
  now: Date,
): Promise<RuleRecord> {
  const owner = ownerOf(organizationId);
  const { id, name, tag_slug = '', rule_type, config, target = 'page' } = written;
  const rule: RuleRecord = {
    _id: id,
    owner,
    organization_id: organizationId,
    name,
    tag_slug,
    rule_type,
    config: config as Condition['config'],
    target,
    is_active: true,
    created_at: now,
  };
  const kept = { id, rule_type, bytes: bytesOf(config) };
  const requireRoom = (others: KeptRule[]) => {
    requireCapacity(others, rule_type);
    requireBytes(others, kept.bytes);
  };
  return parts.rules.writeWithin(owner, kept, requireRoom, () =>
    writeWithTags(parts, rule, written, now, () => parts.rules.insert(rule)),
  );
}

/** Refuses a configuration of this size if it would be too much with those of the owner's other rules. */
function requireBytes(others: KeptRule[], ofRule: number): void {
  if (others.reduce((sum, { bytes }) => sum + bytes, ofRule) > CONFIG_BYTES_MAX)
    throw new ApiError(
      'checking.rules_too_large',
      `The configurations of all rules can have at most ${CONFIG_BYTES_MAX} bytes.`,
    );
}

function requireCapacity(others: KeptRule[], ruleType: RuleType): void {
  if (others.length >= RULES_MAX)
    throw new ApiError('checking.too_many_rules', `There can be at most ${RULES_MAX} rules.`);
  const ofModel = others.filter(({ rule_type }) => isModelType(rule_type));
  if (isModelType(ruleType) && ofModel.length >= MODEL_RULES_MAX)
    throw new ApiError('checking.too_many_rules', `There can be at most ${MODEL_RULES_MAX} AI rules.`);
}

/** The tags that rules of an organization, or of the platform (null), can look at. */
export const seenBy = (organizationId: string | null, tags: Tags): Tags =>
  organizationId === null ? tags : visibleTags(tags);

/** Changes a rule; throws 422 if it could not be run as it is changed or activated. */
export async function changeRule(
  parts: RuleVerbParts,
  rule: RuleRecord,
  change: RulePut,
  now: Date,
): Promise<RuleRecord> {
  const { tag_visibility, ...fields } = change;
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const changed = { ...rule, ...set } as RuleRecord;
  const tags = await parts.readTags(rule.organization_id);
  const isRun = 'config' in set || 'target' in set || (changed.is_active && !rule.is_active);
  const checks = {
    tags: seenBy(rule.organization_id, tags),
    ofPlatform: rule.organization_id === null,
    problemsOf: (patterns: string[]) => parts.problemsOf(rule.organization_id, patterns),
  };
  const issues = [
    // A rule that was accepted once, and would not be now, can still be renamed and switched off.
    ...(isRun ? await ruleIssues(changed, checks) : []),
    ...tagIssues(changed, tag_visibility ?? null, tags),
  ];
  if (issues.length > 0) throw refused(issues.map((issue) => ({ ...issue, loc: ['body', ...issue.loc] })));
  const write = () => writeWithTags(parts, changed, { tag_visibility }, now, () => parts.rules.change(rule, set));
  const [before, bytes] = [bytesOf(rule.config), bytesOf(changed.config)];
  const kept = { id: rule._id, rule_type: rule.rule_type, bytes };
  const requireRoom = (others: KeptRule[]) => requireBytes(others, bytes);
  // What gets no larger is always accepted, also of an owner that had more before there was this bound.
  const stored = bytes <= before ? await write() : await parts.rules.writeWithin(rule.owner, kept, requireRoom, write);
  if (!stored) throw notFound('rule');
  await removeUnusedTags(parts, rule, stored);
  return stored;
}

/**
 * Removes the tags that a changed rule no longer assigns, unless a scan has them, another rule or a policy set names
 * them, or a combo needs them for their category: each change could leave others.
 */
async function removeUnusedTags(parts: RuleVerbParts, before: RuleRecord, after: RuleRecord): Promise<void> {
  const { organization_id } = before;
  const assigned = new Set(slugsAssignedBy(after));
  const dropped = slugsAssignedBy(before).filter((slug) => !assigned.has(slug));
  if (organization_id === null || dropped.length === 0) return;
  const tags = await parts.readTags(organization_id, dropped);
  const findUser = async (slug: string, rulesOf: (slug: string) => RuleLinks[]) => {
    const [rule] = rulesOf(slug);
    if (rule) return rule.name;
    const scans = await parts.countScans(organization_id, slug);
    if (scans > 0) return scans;
    const tag = tags.get(slug);
    return (
      (await parts.policySetNaming(organization_id, slug)) ?? (tag ? comboNeeding(parts, organization_id, tag) : null)
    );
  };
  const links = () => rulesByTag(parts.rules, organization_id);
  const rulesOf = await links();
  for (const slug of dropped)
    if ((await findUser(slug, rulesOf)) === null)
      await parts.removeTagUnlessUsed({ organization_id, slug }, async () => findUser(slug, await links()));
}

/** A rule, or as much of it as a request has, whose tags are checked. */
type NamedRule = Pick<RuleRecord, 'tag_slug' | 'organization_id'> & { rule_type?: RuleType; config?: unknown };

/** What is wrong with the tags that a rule would assign; paths begin at the rule. */
export function tagIssues(rule: NamedRule, tag_visibility: Record<string, string> | null, tags: Tags): Issue[] {
  const { rule_type, tag_slug, organization_id } = rule;
  const isOfConfig = isModelType(rule_type);
  if (!isOfConfig && tag_slug === '')
    return [{ loc: ['tag_slug'], msg: 'This field is required.', type: 'missing', ctx: {} }];
  const slugs = slugsAssignedBy(rule);
  const pathOf = (slug: string) => (isOfConfig ? ['config', 'tags', slug] : ['tag_slug']);
  const reserved = slugs.filter((slug) => organization_id !== null && tags.get(slug)?.organization_id === null);
  const others = Object.keys(tag_visibility ?? {}).filter((slug) => !slugs.includes(slug));
  const isTooMuch = isOfConfig && tag_slug !== '';
  return [
    ...(isTooMuch
      ? [issue(['tag_slug'], 'AI rules assign the tags of config.tags.', 'invalid_combination', tag_slug)]
      : []),
    ...reserved.map((slug) => issue(pathOf(slug), 'The system has a tag of this name.', 'system_slug_reserved', slug)),
    ...others.map((slug) => issue(['tag_visibility', slug], 'The rule does not assign this tag.', 'not_found', slug)),
  ];
}

const issue = (loc: string[], msg: string, type: string, value: unknown): Issue => ({
  loc,
  msg,
  type,
  ctx: given(value),
});

type TagProperties = Partial<Pick<RuleIn, 'tag_category' | 'tag_severity' | 'tag_visibility'>>;

/**
 * Writes a rule and registers the tags that it assigns. Of tags that exist already, only the visibility is changed. One
 * that was deleted before the rule was seen to use it is missing after the write, and registered again.
 */
async function writeWithTags<T>(
  parts: RuleVerbParts,
  rule: RuleRecord,
  properties: TagProperties,
  now: Date,
  write: () => Promise<T>,
): Promise<T> {
  const known = await registerMissing(parts, rule, properties, now);
  for (const [slug, visibility] of Object.entries(properties.tag_visibility ?? {})) {
    const tag = known.get(slug);
    if (tag && tag.organization_id === rule.organization_id) await parts.changeTag(tag, { visibility });
  }
  const written = await write();
  await registerMissing(parts, rule, properties, now);
  return written;
}

/** Registers those of the tags that a rule assigns which do not exist, and returns the others. */
async function registerMissing(
  parts: RuleVerbParts,
  rule: RuleRecord,
  properties: TagProperties,
  now: Date,
): Promise<Tags> {
  const slugs = slugsAssignedBy(rule);
  const known = await parts.readTags(rule.organization_id, slugs);
  const missing = slugs.filter((slug) => !known.has(slug));
  await parts.registerTags(
    missing.map((slug) => newTag(rule, slug, properties)),
    now,
  );
  return known;
}

function newTag(rule: RuleRecord, slug: string, properties: TagProperties): TagDefinition {
  const { rule_type, config, name, organization_id } = rule;
  const found = `Found by the rule "${name}".`;
  return {
    slug,
    category: properties.tag_category ?? 'custom',
    severity: properties.tag_severity ?? 'low',
    visibility: properties.tag_visibility?.[slug] ?? 'internal',
    display_name: readable(slug),
    description: isModelType(rule_type) ? RULE_TYPES[rule_type].tags(config as never)[slug]! : found,
    organization_id,
    archived_at: null,
  };
}

const readable = (slug: string): string => {
  const words = slug.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
