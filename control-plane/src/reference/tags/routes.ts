import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import { SEVERITIES } from './system-tag.ts';
import type { TagDefinitionStore } from './tag-definition-store.ts';
import { hiddenAmong, isOperatorsTag, type ReadTags, type TagDefinition } from './tag-definitions.ts';

/** A rule that assigns a tag or has it as a condition. */
export type RuleOfTag = { _id: string; name: string; rule_type: string; target: string; is_active: boolean };

export type TagParts = {
  readTags: ReadTags;
  setTagArchived: TagDefinitionStore['setArchived'];
  changeTag: TagDefinitionStore['change'];
  removeTagUnlessUsed: TagDefinitionStore['removeUnlessUsed'];
  /** Counts the organization's scans with a tag. */
  countScans: (organizationId: string, slug: string) => Promise<number>;
  removeTagFromScans: (organizationId: string, slug: string) => Promise<void>;
  /** The name of a policy set of the organization that names a tag; null: none does. */
  policySetNaming: (organizationId: string, slug: string) => Promise<string | null>;
  /**
   * The rules of an organization and of the platform by tag, without those of the platform that assign a `hidden` tag.
   */
  rulesByTag: (organizationId: string, hidden: readonly string[]) => Promise<(slug: string) => RuleOfTag[]>;
  /**
   * The name of an active combo that would count nothing without this tag, the last of its category; null: there is
   * none.
   */
  comboNeeding: (organizationId: string, tag: Pick<TagDefinition, 'slug' | 'category'>) => Promise<string | null>;
};

const TagDefSchema = Type.Object(
  {
    slug: Type.String(),
    category: Type.String(),
    source: Type.Enum(['system', 'custom']),
    display_name: Type.String(),
    description: Type.String(),
    scope: Type.Enum(['system', 'personal']),
    organization_id: orNull(Type.String()),
    visibility: Type.Enum(['hidden', 'internal', 'public'], {
      description:
        '`public`: public reports show the tag; `hidden`, `internal`: they do not. A `hidden` tag of the platform is seen by the operator alone.',
    }),
    severity: Type.Enum(SEVERITIES),
    scans_count: Type.Integer({ description: "Number of your organization's scans with this tag." }),
    rules_count: Type.Integer({ description: 'Number of rules that assign it or have it as a condition.' }),
    archived_at: orNull(moment()),
  },
  { title: 'TagDef' },
);

const TagDefDetailSchema = Type.Object(
  {
    ...TagDefSchema.properties,
    linked_rules: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          rule_type: Type.String(),
          target: Type.String(),
          is_active: Type.Boolean(),
        },
        { title: 'LinkedRule' },
      ),
    ),
  },
  { title: 'TagDefDetail' },
);

const TagPatchSchema = Type.Object(
  {
    display_name: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 200 }))),
    description: Type.Optional(orNull(Type.String({ maxLength: 2_000 }))),
    category: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 100 }))),
    visibility: Type.Optional(orNull(TagDefSchema.properties.visibility)),
    severity: Type.Optional(orNull(TagDefSchema.properties.severity)),
  },
  { additionalProperties: false, title: 'TagPatch' },
);

/** Operations on tag definitions (spec 2.5, 4.5). */
export function tagRoutes(parts: TagParts): Route<Caller>[] {
  const tags = resource<TagDefinition>({
    group: 'Tags',
    path: '/api/v1/tag-definitions',
    id: { name: 'slug', description: 'Slug of the tag.' },
    noun: 'tag',
    permission: { read: 'any', write: 'custom_rules.manage' },
    schema: TagDefSchema,
    presenter: async (caller) => {
      const rulesOf = await rulesShownTo(parts, caller);
      return (tag) => present(parts, caller, tag, rulesOf(tag.slug));
    },
  });
  return [
    tags.list({
      summary: 'Tag definitions',
      description: "The system's tags and those of your organization.",
      query: {
        category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
        include_archived: Type.Optional(
          Type.Boolean({ default: false, description: "true: only your organization's archived tags." }),
        ),
      },
      reply: 'The definitions, sorted by slug.',
      rows: async ({ caller, organizationId, query }) =>
        [...(await parts.readTags(organizationId)).values()]
          .filter((tag) => isShownTo(caller, tag))
          .filter((tag) => (query.include_archived ? isArchivedOwn(tag) : tag.archived_at === null))
          .filter((tag) => query.category === undefined || tag.category === query.category)
          .sort((one, other) => (one.slug < other.slug ? -1 : 1)),
    }),
    tags.read({
      summary: 'Read a tag definition',
      description: 'With the number of your scans that have the tag, and your rules that assign it.',
      reply: 'The definition.',
      schema: TagDefDetailSchema,
      presenter: async (caller) => {
        const rulesOf = await rulesShownTo(parts, caller);
        return (tag: TagDefinition) => presentDetail(parts, caller, tag, rulesOf(tag.slug));
      },
      find: async ({ caller, organizationId, id }) => {
        const tag = (await parts.readTags(organizationId, [id])).get(id);
        return tag && isShownTo(caller, tag) && (tag.archived_at === null || isArchivedOwn(tag)) ? tag : null;
      },
    }),
    tags.command({
      method: 'PATCH',
      summary: 'Change one of your tags',
      description:
        'Fields that are omitted or null keep their values. Tags of the system cannot be changed. The last tag of a category that an active combo counts keeps it.',
      body: TagPatchSchema,
      reply: 'The tag is changed.',
      errors: ['checking.too_many_tags', 'checking.tag_in_use'],
      run: async ({ caller, organizationId, id, body }) => {
        const tag = await findTagOfOrganization(parts, caller, id);
        const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
        if ((body.category ?? tag.category) !== tag.category)
          refuseIfUsed(await needOfCategory(parts, organizationId, tag));
        if (Object.keys(change).length > 0) await parts.changeTag(tag, change);
      },
    }),
    tags.command({
      method: 'DELETE',
      summary: 'Delete one of your tags',
      description:
        'Deletes the tag and removes it from all scans. Refused while an active rule assigns it or has it as a condition, while a policy set names it, and while it is the last one of a category that an active combo counts.',
      reply: 'The tag is deleted.',
      errors: ['checking.tag_in_use'],
      run: async ({ caller, organizationId, id }) => {
        const tag = await findTagOfOrganization(parts, caller, id);
        const findUser = () => userOf(parts, organizationId, tag);
        refuseIfUsed(await findUser());
        // Before its tag, so that an interrupted call can be repeated; then from scans that got it meanwhile.
        await parts.removeTagFromScans(organizationId, tag.slug);
        refuseIfUsed(await parts.removeTagUnlessUsed(tag, findUser));
        await parts.removeTagFromScans(organizationId, tag.slug);
      },
    }),
    tags.command({
      method: 'POST',
      below: 'archive',
      summary: 'Archive a tag',
      description:
        'An archived tag is not assigned, not shown and cannot be filtered by; its assignments are kept. Only the operator can archive tags of the system.',
      reply: 'The tag is archived.',
      run: async ({ caller, id, now }) => {
        const tag = await findArchivableTag(parts, caller, id);
        // Archiving an archived tag keeps the first time.
        await parts.setTagArchived(tag, tag.archived_at ?? now, now);
      },
    }),
    tags.command({
      method: 'POST',
      below: 'restore',
      summary: 'Restore an archived tag',
      description:
        'Its earlier assignments are shown again at once; scans that finished while it was archived do not get it. Only the operator can restore tags of the system.',
      reply: 'The tag is restored.',
      run: async ({ caller, id, now }) => parts.setTagArchived(await findArchivableTag(parts, caller, id), null, now),
    }),
  ];
}

function refuseIfUsed(user: string | null): void {
  if (user !== null) throw new ApiError('checking.tag_in_use', user);
}

/** What uses a tag of the organization, as a sentence; null: nothing does. */
async function userOf(parts: TagParts, organizationId: string, tag: TagDefinition): Promise<string | null> {
  const { rulesByTag, policySetNaming } = parts;
  const { slug } = tag;
  const rule = (await rulesByTag(organizationId, []))(slug).find(({ is_active }) => is_active);
  if (rule) return `The rule "${rule.name}" uses this tag.`;
  const set = await policySetNaming(organizationId, slug);
  return set === null ? needOfCategory(parts, organizationId, tag) : `The policy set "${set}" names this tag.`;
}

/** What needs a tag of the organization for its category, as a sentence; null: nothing does. */
async function needOfCategory({ comboNeeding }: TagParts, organizationId: string, tag: TagDefinition) {
  const combo = await comboNeeding(organizationId, tag);
  return combo === null
    ? null
    : `The rule "${combo}" counts tags of the category ${tag.category}, and this is the last one.`;
}

/** Hidden tags of the platform are the operator's. */
const isShownTo = (caller: Caller, tag: TagDefinition): boolean => isOperator(caller) || !isOperatorsTag(tag);

const isArchivedOwn = (tag: TagDefinition): boolean => tag.organization_id !== null && tag.archived_at !== null;

/** The rules that a caller sees, by tag: for organizations without those that assign hidden tags of the platform. */
async function rulesShownTo({ readTags, rulesByTag }: TagParts, caller: Caller) {
  const hidden = isOperator(caller) ? [] : hiddenAmong(await readTags(null));
  return rulesByTag(caller.organizationId, hidden);
}

/** A tag that the caller sees. Throws 404 for any other. */
async function findTag({ readTags }: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = (await readTags(caller.organizationId, [slug])).get(slug);
  if (!tag || !isShownTo(caller, tag)) throw notFound('tag');
  return tag;
}

/** A tag of the organization. Throws 403 for a tag of the system, which is part of the code. */
async function findTagOfOrganization(parts: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = await findTag(parts, caller, slug);
  if (tag.organization_id === null) throw new ApiError('forbidden', 'Tags of the system cannot be changed.');
  return tag;
}

/** A tag that the caller may archive: one of its organization; for the operator also one of the system. */
async function findArchivableTag(parts: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = await findTag(parts, caller, slug);
  if (tag.organization_id === null && !isOperator(caller))
    throw new ApiError('forbidden', 'Only the operator’s key can change tags of the system.');
  return tag;
}

async function present({ countScans }: TagParts, { organizationId }: Caller, tag: TagDefinition, rules: RuleOfTag[]) {
  const { slug, category, display_name, description, organization_id, visibility, severity, archived_at } = tag;
  const own = organization_id !== null;
  return {
    slug,
    category,
    source: own ? 'custom' : 'system',
    display_name,
    description,
    scope: own ? 'personal' : 'system',
    organization_id,
    visibility,
    severity,
    scans_count: await countScans(organizationId, slug),
    rules_count: rules.length,
    archived_at: archived_at?.toISOString() ?? null,
  };
}

async function presentDetail(parts: TagParts, caller: Caller, tag: TagDefinition, rules: RuleOfTag[]) {
  const linked_rules = rules.map(({ _id, name, rule_type, target, is_active }) => {
    return { id: _id, name, rule_type, target, is_active };
  });
  return { ...(await present(parts, caller, tag, rules)), linked_rules };
}
