import { boundedWrites } from '../../platform/bounded-writes.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { hasCategory, type ReadTags, type TagDefinition, visibleTags } from '../../reference/tags/tag-definitions.ts';
import { bytesOf, isKnown, type RuleRecord, type RuleType, slugsAssignedBy, slugsNamedBy } from './rule.ts';

/** The owner of the platform's rules, which run on every scan. */
export const PLATFORM = 'platform';

export const ownerOf = (organizationId: string | null): string => organizationId ?? PLATFORM;

const NEWEST = { created_at: -1, _id: -1 } as const;

/** The only code that accesses rules. */
export type RuleStore = ReturnType<typeof ruleStore>;

/** A rule without what it searches for: of its configuration only the tags that it assigns or looks at. */
export type RuleLinks = Pick<
  RuleRecord,
  '_id' | 'organization_id' | 'name' | 'rule_type' | 'target' | 'is_active' | 'tag_slug' | 'config'
>;

/** Where the configuration of a combo has the tags that it looks at. */
const INPUTS = ['all_of', 'any_of', 'none_of'].map((field) => `config.${field}`);
const LINKED = ['organization_id', 'name', 'rule_type', 'target', 'is_active', 'tag_slug', 'config.tags', ...INPUTS];
const LINKS = Object.fromEntries(LINKED.map((field) => [field, 1]));

/** What the bounds of an owner's rules are counted by. */
export type KeptRule = { id: string; rule_type: RuleType; bytes: number };

export function ruleStore(store: Store) {
  const rules: Collection<RuleRecord> = store.collection<RuleRecord>('rules');
  const writeWithin = boundedWrites<KeptRule>(store, 'rules');

  const kept = async (owner: string): Promise<KeptRule[]> => {
    await addSizes(owner);
    const sizes = { rule_type: 1, config_bytes: 1 };
    const rows = rules.find({ owner }).project<Pick<RuleRecord, '_id' | 'rule_type' | 'config_bytes'>>(sizes);
    return (await rows.toArray()).map(({ _id, rule_type, config_bytes = 0 }) => {
      return { id: _id, rule_type, bytes: config_bytes };
    });
  };

  /** Adds their sizes to an owner's rules that an earlier version stored, once. */
  const addSizes = async (owner: string): Promise<void> => {
    for await (const { _id, config } of rules.find({ owner, config_bytes: { $exists: false } }))
      await rules.updateOne({ _id, config }, { $set: { config_bytes: bytesOf(config) } });
  };

  return {
    async createIndexes(): Promise<void> {
      await rules.createIndex({ owner: 1, ...NEWEST });
    },

    /** Stores a rule, unless one with this id exists. Returns the stored one. */
    async insert(rule: RuleRecord): Promise<RuleRecord> {
      const isNew = await insertOnce(rules, { ...rule, config_bytes: bytesOf(rule.config) });
      return (isNew ? null : await rules.findOne({ _id: rule._id, owner: rule.owner })) ?? rule;
    },

    /** A rule of this organization or of the platform; null: missing, or another organization's. */
    async find(organizationId: string, id: string): Promise<RuleRecord | null> {
      return rules.findOne({ _id: id, owner: { $in: [PLATFORM, organizationId] } });
    },

    /** A page of an owner's rules, newest first, and their count, without those that name one of the `hidden` tags. */
    async list(owner: string, skip: number, limit: number, hidden: string[] = []) {
      const ofModel = hidden.map((slug) => ({ [`config.tags.${slug}`]: { $exists: false } }));
      const others = ['tag_slug', ...INPUTS].map((field) => ({ [field]: { $nin: hidden } }));
      const shown = hidden.length > 0 ? { $and: [...others, ...ofModel] } : {};
      const where: Filter<RuleRecord> = { owner, ...shown };
      const [rows, total] = await Promise.all([
        rules.find(where).sort(NEWEST).skip(skip).limit(limit).toArray(),
        rules.countDocuments(where),
      ]);
      return { rows, total };
    },

    /** Writes a rule of this owner if `requireRoom`, which gets the owner's other rules, does not throw. */
    async writeWithin<T>(
      owner: string,
      rule: KeptRule,
      requireRoom: (others: KeptRule[]) => void,
      write: () => Promise<T>,
    ): Promise<T> {
      const take = (others: KeptRule[]) => {
        requireRoom(others);
        return rule;
      };
      return writeWithin(owner, { id: rule.id, kept: () => kept(owner), take }, write);
    },

    /** All rules for an organization's scans, inactive ones too: the platform's first, each oldest first. */
    async visibleTo(organizationId: string): Promise<RuleRecord[]> {
      const found = await rules.find({ owner: { $in: [PLATFORM, organizationId] } }).toArray();
      const isOwn = ({ owner }: RuleRecord) => (owner === PLATFORM ? 0 : 1);
      return found.sort(
        (a, b) => isOwn(a) - isOwn(b) || a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1),
      );
    },

    /** The tags that the same rules assign and look at; large configurations are not read. */
    async linksVisibleTo(organizationId: string): Promise<RuleLinks[]> {
      const of = (owner: string) =>
        rules.find({ owner }).sort({ created_at: 1, _id: 1 }).project<RuleLinks>(LINKS).toArray();
      return (await Promise.all([of(PLATFORM), of(organizationId)])).flat();
    },

    /** The name of an active combo of the organization that counts tags of a category; null: none does. */
    async counting(organizationId: string, category: string): Promise<string | null> {
      const where: Filter<RuleRecord> = { owner: organizationId, rule_type: 'combo', is_active: true };
      const named = rules.find({ ...where, 'config.tag_category': category }).limit(1);
      return (await named.project<Pick<RuleRecord, 'name'>>({ name: 1 }).toArray())[0]?.name ?? null;
    },

    /** Changes a rule and returns the changed record; null: it is gone. */
    async change({ _id, owner }: RuleRecord, set: Partial<RuleRecord>): Promise<RuleRecord | null> {
      const $set = { ...set, ...(set.config && { config_bytes: bytesOf(set.config) }) };
      return rules.findOneAndUpdate({ _id, owner }, { $set }, { returnDocument: 'after' });
    },

    async remove({ _id, owner }: RuleRecord): Promise<void> {
      await rules.deleteOne({ _id, owner });
    },
  };
}

/**
 * Reads an organization's and the platform's rules once, without those that assign one of the `hidden` tags, or that
 * only the operator may know. The result returns those that assign a tag or, as combos, look at it.
 */
export async function rulesByTag(
  rules: Pick<RuleStore, 'linksVisibleTo'>,
  organizationId: string,
  hidden: readonly string[] = [],
): Promise<(slug: string) => RuleLinks[]> {
  const bySlug = new Map<string, Set<RuleLinks>>();
  const secret = new Set(hidden);
  const seen = (await rules.linksVisibleTo(organizationId)).filter(
    (rule) => isKnown(rule, secret) && !slugsAssignedBy(rule).some((slug) => secret.has(slug)),
  );
  for (const rule of seen)
    for (const slug of slugsNamedBy(rule)) bySlug.set(slug, (bySlug.get(slug) ?? new Set()).add(rule));
  return (slug) => [...(bySlug.get(slug) ?? [])];
}

/**
 * The name of an active combo that would count nothing without this tag of the organization, the last of its category;
 * null: there is none.
 */
export async function comboNeeding(
  { rules, readTags }: { rules: Pick<RuleStore, 'counting'>; readTags: ReadTags },
  organizationId: string,
  { slug, category }: Pick<TagDefinition, 'slug' | 'category'>,
): Promise<string | null> {
  const tags = visibleTags(await readTags(organizationId));
  return hasCategory(tags, category, slug) ? null : rules.counting(organizationId, category);
}
