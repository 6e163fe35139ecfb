import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { noContent, ok, orNull, type Route, route } from '../../http/route.ts';
import { SEVERITIES } from './system-tag.ts';
import type { TagDefinitionStore } from './tag-definition-store.ts';
import type { ReadTags, TagDefinition } from './tag-definitions.ts';

/** A rule that assigns a tag or has it as a condition. */
export type RuleOfTag = { _id: string; name: string; rule_type: string; target: string; is_active: boolean };

/** What the operations on tag definitions need. */
export type TagParts = {
  readTags: ReadTags;
  setTagArchived: TagDefinitionStore['setArchived'];
  changeTag: TagDefinitionStore['change'];
  removeTag: TagDefinitionStore['remove'];
  /** How many scans of the organization carry a tag. */
  countScans: (organizationId: string, slug: string) => Promise<number>;
  removeTagFromScans: (organizationId: string, slug: string) => Promise<void>;
  rulesByTag: (organizationId: string) => Promise<(slug: string) => RuleOfTag[]>;
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
      description: '`public`: public reports name it; `hidden`, `internal`: they do not.',
    }),
    severity: Type.Enum(SEVERITIES),
    scans_count: Type.Integer({ description: "Your organization's scans that carry it." }),
    rules_count: Type.Integer({ description: 'Rules that assign it or ask for it.' }),
    archived_at: orNull(Type.String({ format: 'date-time' })),
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

const TagPath = Type.Object({ slug: Type.String({ description: 'The tag.' }) });
const ListQuery = Type.Object(
  {
    category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    include_archived: Type.Optional(
      Type.Boolean({ default: false, description: "Your organization's archived tags alone." }),
    ),
  },
  { additionalProperties: false },
);
const group = 'Tags';

/** Operations on tag definitions (spec 2.5, 4.5). */
export function tagRoutes(parts: TagParts): Route<Caller>[] {
  const service = (['archive', 'restore'] as const).map((verb) => serviceRoute(parts, verb));
  return [listRoute(parts), readRoute(parts), changeRoute(parts), removeRoute(parts), ...service];
}

function listRoute(parts: TagParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/tag-definitions',
    group,
    summary: 'Tag definitions',
    description: "The system's tags and your organization's own.",
    permission: 'any',
    query: ListQuery,
    replies: { 200: { description: 'Definitions, by slug.', schema: Type.Array(TagDefSchema) } },
    handle: async ({ caller, query }) => {
      const all = [...(await parts.readTags(caller.organizationId)).values()];
      const listed = all
        .filter((tag) => (query.include_archived ? isArchivedOwn(tag) : tag.archived_at === null))
        .filter((tag) => query.category === undefined || tag.category === query.category)
        .sort((one, other) => (one.slug < other.slug ? -1 : 1));
      const rulesOf = await parts.rulesByTag(caller.organizationId);
      return ok(await Promise.all(listed.map((tag) => present(parts, caller, tag, rulesOf(tag.slug)))));
    },
  });
}

function readRoute(parts: TagParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/tag-definitions/{slug}',
    group,
    summary: 'Read a tag definition',
    permission: 'any',
    params: TagPath,
    replies: { 200: { description: 'The definition.', schema: TagDefDetailSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const tag = await findTag(parts, caller, params.slug);
      if (tag.archived_at !== null && !isArchivedOwn(tag)) throw notFound('tag');
      const linked = (await parts.rulesByTag(caller.organizationId))(tag.slug);
      const linked_rules = linked.map(({ _id, name, rule_type, target, is_active }) => {
        return { id: _id, name, rule_type, target, is_active };
      });
      return ok({ ...(await present(parts, caller, tag, linked)), linked_rules });
    },
  });
}

function changeRoute(parts: TagParts): Route<Caller> {
  return route({
    method: 'PATCH',
    path: '/api/v1/tag-definitions/{slug}',
    group,
    summary: 'Change one of your tags',
    description: 'What is absent or null stays as it is. Tags of the system cannot be changed.',
    permission: 'custom_rules.manage',
    params: TagPath,
    body: TagPatchSchema,
    replies: { 204: { description: 'It is changed.' } },
    errors: ['not_found'],
    handle: async ({ caller, params, body }) => {
      const tag = await findOwnTag(parts, caller, params.slug);
      const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
      if (Object.keys(change).length > 0) await parts.changeTag(tag, change);
      return noContent();
    },
  });
}

function removeRoute(parts: TagParts): Route<Caller> {
  return route({
    method: 'DELETE',
    path: '/api/v1/tag-definitions/{slug}',
    group,
    summary: 'Delete one of your tags',
    description: 'With its assignments. Not while an active rule assigns it or asks for it.',
    permission: 'custom_rules.manage',
    params: TagPath,
    replies: { 204: { description: 'It is gone.' } },
    errors: ['not_found', 'checking.tag_in_use'],
    handle: async ({ caller, params }) => {
      const tag = await findOwnTag(parts, caller, params.slug);
      const rulesOf = await parts.rulesByTag(caller.organizationId);
      const using = rulesOf(tag.slug).filter(({ is_active }) => is_active);
      if (using[0]) throw new ApiError('checking.tag_in_use', `The rule "${using[0].name}" uses this tag.`);
      await parts.removeTag(tag);
      await parts.removeTagFromScans(caller.organizationId, tag.slug);
      return noContent();
    },
  });
}

function serviceRoute(parts: TagParts, verb: 'archive' | 'restore'): Route<Caller> {
  return route({
    method: 'POST',
    path: `/api/v1/tag-definitions/{slug}/${verb}`,
    group,
    summary: verb === 'archive' ? 'Take a tag out of service' : 'Put a tag back into service',
    description:
      verb === 'archive'
        ? 'It is not assigned, shown or filtered by from now on; assignments are kept. Tags of the system: the operator alone.'
        : 'At once, with the assignments it had; scans of the meantime are not tagged. Tags of the system: the operator alone.',
    permission: 'custom_rules.manage',
    params: TagPath,
    replies: { 204: { description: verb === 'archive' ? 'It is archived.' : 'It is in service.' } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const tag = await findTag(parts, caller, params.slug);
      requireOwner(caller, tag);
      const now = new Date();
      // Archiving again keeps the time of the first.
      const archived_at = verb === 'restore' ? null : (tag.archived_at ?? now);
      await parts.setTagArchived(tag, archived_at, now);
      return noContent();
    },
  });
}

const isArchivedOwn = (tag: TagDefinition): boolean => tag.organization_id !== null && tag.archived_at !== null;

async function findTag({ readTags }: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = (await readTags(caller.organizationId)).get(slug);
  if (!tag) throw notFound('tag');
  return tag;
}

/** A tag of the caller's organization. Tags of the system are what this version says they are. */
async function findOwnTag(parts: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = await findTag(parts, caller, slug);
  if (tag.organization_id === null) throw new ApiError('forbidden', 'Tags of the system cannot be changed.');
  return tag;
}

/** Tags of the system belong to the operator. */
function requireOwner(caller: Caller, tag: TagDefinition): void {
  if (tag.organization_id === null && !isOperator(caller))
    throw new ApiError('forbidden', 'Only the operator’s key can change tags of the system.');
}

async function present({ countScans }: TagParts, { organizationId }: Caller, tag: TagDefinition, rules: RuleOfTag[]) {
  const { slug, category, display_name, description, organization_id, visibility, severity, archived_at } = tag;
  const own = organization_id !== null;
  return {
    ...{ slug, category, source: own ? 'custom' : 'system', display_name, description },
    ...{ scope: own ? 'personal' : 'system', organization_id, visibility, severity },
    scans_count: await countScans(organizationId, slug),
    rules_count: rules.length,
    archived_at: archived_at?.toISOString() ?? null,
  };
}
