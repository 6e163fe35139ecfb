import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { type ResourceRequest, resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { parseTaxonomy } from './parse-taxonomy.ts';
import { type TaxonomyRecord, treeIssues, treeOf } from './taxonomy.ts';
import {
  type NodeIn,
  ParsedTaxonomySchema,
  TaxonomyInSchema,
  TaxonomyItemSchema,
  TaxonomyPutSchema,
  TaxonomySchema,
  TaxonomyTextSchema,
} from './taxonomy-in.ts';
import type { KeptTaxonomy, ListedTaxonomy, TaxonomyStore } from './taxonomy-store.ts';

/** Active taxonomies of one organization: all of them are part of each question to the model. */
const TAXONOMIES_MAX = 5;

/** Deleted taxonomies that are kept, so that they can be restored. */
const DELETED_MAX = 20;

const group = 'Custom taxonomies';
const permission = 'custom_taxonomies.manage';
const path = '/api/v1/custom-taxonomies';

/** Operations on an organization's own taxonomies, by which a model classifies its scans. */
export function taxonomyRoutes({ taxonomies: store }: { taxonomies: TaxonomyStore }): Route<Caller>[] {
  const common = {
    group,
    path,
    id: { name: 'taxonomy_id', description: 'The taxonomy.' },
    noun: 'taxonomy',
    permission: { read: 'scans.read', write: permission } as const,
  };
  const items = resource<ListedTaxonomy>({ ...common, schema: TaxonomyItemSchema, presenter: () => presentItem });
  const taxonomies = resource<TaxonomyRecord>({ ...common, schema: TaxonomySchema, presenter: () => present });
  return [
    items.list({
      summary: 'List custom taxonomies',
      query: {
        include_inactive: Type.Optional(Type.Boolean({ default: false, description: 'Deleted ones too.' })),
      },
      reply: 'Your taxonomies, oldest first.',
      rows: ({ organizationId, query }) => store.list(organizationId, { withDeleted: query.include_inactive === true }),
    }),
    taxonomies.create({
      summary: 'Create a custom taxonomy',
      description: 'Where a model is set, later scans have their place in it in `classification.custom_taxonomies`.',
      body: TaxonomyInSchema,
      reply: 'The taxonomy.',
      errors: ['custom_taxonomies.too_many'],
      refine: ({ body, refused }) => nodeIssues(body.nodes, refused),
      create: async ({ organizationId: organization_id, id, body, now }) => {
        const earlier = await store.find(organization_id, id);
        if (earlier) return earlier;
        const take = (others: KeptTaxonomy[]) => {
          requireCapacity(others);
          return { id, slug: freeSlug(body.name, others), is_active: true };
        };
        return store.writeWithin(organization_id, id, take, async ({ slug, is_active }) => {
          const taxonomy: TaxonomyRecord = {
            _id: id,
            organization_id,
            name: body.name.trim(),
            slug,
            description: body.description ?? '',
            is_active,
            version: 1,
            nodes: treeOf(body.nodes ?? []),
            created_at: now,
            updated_at: now,
          };
          await store.insert(taxonomy);
          return taxonomy;
        });
      },
    }),
    parseRoute(),
    taxonomies.read({
      summary: 'Read a custom taxonomy',
      reply: 'The taxonomy.',
      find: ({ organizationId, id }) => store.find(organizationId, id),
    }),
    taxonomies.change({
      method: 'PUT',
      summary: 'Change a custom taxonomy',
      description:
        '`nodes` is replaced as a whole, and the version goes up; what is absent stays. Scans keep what they have.',
      body: TaxonomyPutSchema,
      reply: 'The taxonomy.',
      refine: ({ body, refused }) => nodeIssues(body.nodes, refused),
      change: ({ organizationId, id, body: { name, nodes, ...words }, now }) => {
        const given = { ...words, ...(name && { name: name.trim() }), ...(nodes && { nodes: treeOf(nodes) }) };
        return store.change(organizationId, id, { ...given, updated_at: now });
      },
    }),
    taxonomies.command({
      method: 'DELETE',
      summary: 'Delete a custom taxonomy',
      description: `Later scans are not classified by it; the ${DELETED_MAX} that were deleted last can be restored.`,
      reply: 'It counts no longer.',
      run: (request) => setActive(store, request, false),
    }),
    taxonomies.command({
      method: 'POST',
      below: 'restore',
      summary: 'Restore a custom taxonomy',
      reply: 'It counts again.',
      errors: ['custom_taxonomies.too_many'],
      run: (request) => setActive(store, request, true),
    }),
  ];
}

/** Deletes or restores a taxonomy; null: there is none. */
async function setActive(
  store: TaxonomyStore,
  { organizationId, id, now }: ResourceRequest,
  is_active: boolean,
): Promise<TaxonomyRecord | null> {
  const found = await store.find(organizationId, id);
  if (!found) return null;
  const change = () => store.change(organizationId, id, { is_active, updated_at: now });
  if (!is_active) {
    const deleted = await change();
    await store.removeOldest(organizationId, DELETED_MAX);
    return deleted;
  }
  if (found.is_active) return change();
  const take = (others: KeptTaxonomy[]) => {
    requireCapacity(others);
    return { id, slug: found.slug, is_active };
  };
  return store.writeWithin(organizationId, id, take, change);
}

function parseRoute(): Route<Caller> {
  return route({
    method: 'POST',
    path: `${path}/parse-text`,
    group,
    summary: 'Read a pasted tree',
    description: 'A node in a line, deeper ones indented, `name | description`. Nothing is stored.',
    permission,
    body: TaxonomyTextSchema,
    replies: { 200: { description: 'Its nodes, and what was brought into form.', schema: ParsedTaxonomySchema } },
    handle: ({ body }) => ok(parseTaxonomy(body.text)),
  });
}

/** Refuses if besides these no further taxonomy may be active. */
function requireCapacity(others: KeptTaxonomy[]): void {
  if (others.filter(({ is_active }) => is_active).length < TAXONOMIES_MAX) return;
  throw new ApiError('custom_taxonomies.too_many', `There can be at most ${TAXONOMIES_MAX} custom taxonomies.`);
}

const nodeIssues = (nodes: NodeIn[] | undefined, refused: ReadonlySet<string> | null): Issue[] =>
  nodes && refused && !refused.has('nodes')
    ? treeIssues(nodes).map((issue) => ({ ...issue, loc: ['body', 'nodes', ...issue.loc] }))
    : [];

/** A name in lower case with hyphens, numbered if the organization already has the slug. */
function freeSlug(name: string, all: Pick<TaxonomyRecord, 'slug'>[]): string {
  const slug =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'taxonomy';
  const taken = new Set(all.map((one) => one.slug));
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? slug : `${slug}-${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function presentItem(taxonomy: ListedTaxonomy) {
  return {
    id: taxonomy._id,
    ...pickFields(taxonomy, 'name', 'slug', 'description', 'is_active', 'version'),
    node_count: taxonomy.nodes.length,
    created_at: taxonomy.created_at.toISOString(),
    updated_at: taxonomy.updated_at.toISOString(),
  };
}

function present(taxonomy: TaxonomyRecord) {
  const { node_count: _, ...item } = presentItem(taxonomy);
  return { ...item, organization_id: taxonomy.organization_id, nodes: taxonomy.nodes };
}
