import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { orNull } from '../../http/or-null.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import { SEVERITIES } from './system-tag.ts';
import type { TagDefinitionStore } from './tag-definition-store.ts';
import type { TagDefinition } from './tag-definitions.ts';

/** What the operations on tag definitions need; `countScans`: how many scans of the organization carry a tag. */
export type TagParts = {
  tags: TagDefinitionStore;
  countScans: (organizationId: string, slug: string) => Promise<number>;
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
    archived_at: orNull(Type.String({ format: 'date-time' })),
  },
  { title: 'TagDef' },
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
  return [listRoute(parts), readRoute(parts), serviceRoute(parts, 'archive'), serviceRoute(parts, 'restore')];
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
      const all = [...(await parts.tags.visibleTo(caller.organizationId)).values()];
      const listed = all
        .filter((tag) => (query.include_archived ? isArchivedOwn(tag) : tag.archived_at === null))
        .filter((tag) => query.category === undefined || tag.category === query.category)
        .sort((one, other) => (one.slug < other.slug ? -1 : 1));
      return ok(await Promise.all(listed.map((tag) => present(parts, caller, tag))));
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
    replies: { 200: { description: 'The definition.', schema: TagDefSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const tag = await findTag(parts, caller, params.slug);
      if (tag.archived_at !== null && !isArchivedOwn(tag)) throw notFound('tag');
      return ok(await present(parts, caller, tag));
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
      await parts.tags.setArchived(tag, archived_at, now);
      return noContent();
    },
  });
}

const isArchivedOwn = (tag: TagDefinition): boolean => tag.organization_id !== null && tag.archived_at !== null;

async function findTag({ tags }: TagParts, caller: Caller, slug: string): Promise<TagDefinition> {
  const tag = (await tags.visibleTo(caller.organizationId)).get(slug);
  if (!tag) throw notFound('tag');
  return tag;
}

/** Tags of the system belong to the operator. */
function requireOwner(caller: Caller, tag: TagDefinition): void {
  if (tag.organization_id === null && !isOperator(caller))
    throw new ApiError('forbidden', 'Tags of the system are changed with the operator’s key alone.');
}

async function present({ countScans }: TagParts, { organizationId }: Caller, tag: TagDefinition) {
  const { slug, category, display_name, description, organization_id, visibility, severity, archived_at } = tag;
  const own = organization_id !== null;
  return {
    ...{ slug, category, source: own ? 'custom' : 'system', display_name, description },
    ...{ scope: own ? 'personal' : 'system', organization_id, visibility, severity },
    scans_count: await countScans(organizationId, slug),
    archived_at: archived_at?.toISOString() ?? null,
  };
}
