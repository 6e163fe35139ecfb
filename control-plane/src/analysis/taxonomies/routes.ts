import { newId } from '@adsweep/shared/ids.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { created, noContent, ok, type Route, route } from '../../http/route.ts';
import { parseTaxonomy } from './parse-taxonomy.ts';
import type { TaxonomyRecord } from './taxonomy.ts';
import { treeIssues, treeOf } from './taxonomy.ts';
import {
  type NodeIn,
  ParsedTaxonomySchema,
  TaxonomyInSchema,
  TaxonomyItemSchema,
  TaxonomyPutSchema,
  TaxonomySchema,
  TaxonomyTextSchema,
} from './taxonomy-in.ts';
import type { TaxonomyStore } from './taxonomy-store.ts';

export type TaxonomyParts = { taxonomies: TaxonomyStore };

/** Active taxonomies of one organization: all of them are part of each question to the model. */
const TAXONOMIES_MAX = 5;

const group = 'Custom taxonomies';
const permission = 'custom_taxonomies.manage';
const path = '/api/v1/custom-taxonomies';
const onePath = `${path}/{taxonomy_id}` as const;
const params = Type.Object({ taxonomy_id: Type.String({ description: 'The taxonomy.' }) });

/** Operations on an organization's own taxonomies, by which a model classifies its scans. */
export function taxonomyRoutes(parts: TaxonomyParts): Route<Caller>[] {
  return [
    listRoute(parts),
    createRoute(parts),
    parseRoute(),
    readRoute(parts),
    replaceRoute(parts),
    activityRoute(parts, 'delete'),
    activityRoute(parts, 'restore'),
  ];
}

function listRoute({ taxonomies }: TaxonomyParts): Route<Caller> {
  return route({
    method: 'GET',
    path,
    group,
    summary: 'List custom taxonomies',
    permission: 'scans.read',
    query: Type.Object(
      { include_inactive: Type.Optional(Type.Boolean({ default: false, description: 'Deleted ones too.' })) },
      { additionalProperties: false },
    ),
    replies: { 200: { description: 'Your taxonomies, oldest first.', schema: Type.Array(TaxonomyItemSchema) } },
    handle: async ({ caller, query }) => {
      const all = await taxonomies.all(caller.organizationId);
      return ok(all.filter(({ is_active }) => is_active || query.include_inactive === true).map(presentItem));
    },
  });
}

function createRoute({ taxonomies }: TaxonomyParts): Route<Caller> {
  return route({
    method: 'POST',
    path,
    group,
    summary: 'Create a custom taxonomy',
    description: 'Where a model is set, later scans have their place in it in `classification.custom_taxonomies`.',
    permission,
    body: TaxonomyInSchema,
    replies: { 201: { description: 'The taxonomy.', schema: TaxonomySchema } },
    errors: ['custom_taxonomies.too_many'],
    refine: ({ body, refused }) => nodeIssues(body.nodes, refused),
    handle: async ({ caller, body, recordId = newId() }) => {
      const { organizationId: organization_id } = caller;
      const earlier = await taxonomies.find(organization_id, recordId);
      if (earlier) return created(present(earlier));
      const all = await requireCapacity(taxonomies, organization_id);
      const now = new Date();
      const taxonomy: TaxonomyRecord = {
        ...{ _id: recordId, organization_id, name: body.name.trim(), slug: freeSlug(body.name, all) },
        ...{ description: body.description ?? '', is_active: true, version: 1, nodes: treeOf(body.nodes ?? []) },
        ...{ created_at: now, updated_at: now },
      };
      await taxonomies.insert(taxonomy);
      return created(present(taxonomy));
    },
  });
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

function readRoute({ taxonomies }: TaxonomyParts): Route<Caller> {
  return route({
    method: 'GET',
    path: onePath,
    group,
    summary: 'Read a custom taxonomy',
    permission: 'scans.read',
    params,
    replies: { 200: { description: 'The taxonomy.', schema: TaxonomySchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const taxonomy = await taxonomies.find(caller.organizationId, params.taxonomy_id);
      if (!taxonomy) throw notFound('taxonomy');
      return ok(present(taxonomy));
    },
  });
}

function replaceRoute({ taxonomies }: TaxonomyParts): Route<Caller> {
  return route({
    method: 'PUT',
    path: onePath,
    group,
    summary: 'Change a custom taxonomy',
    description:
      '`nodes` is replaced as a whole, and the version goes up; what is absent stays. Scans keep what they have.',
    permission,
    params,
    body: TaxonomyPutSchema,
    replies: { 200: { description: 'The taxonomy.', schema: TaxonomySchema } },
    errors: ['not_found'],
    refine: ({ body, refused }) => nodeIssues(body.nodes, refused),
    handle: async ({ caller, params, body }) => {
      const { nodes, ...words } = body;
      const set = { ...words, ...(nodes && { nodes: treeOf(nodes) }), updated_at: new Date() };
      const taxonomy = await taxonomies.change(caller.organizationId, params.taxonomy_id, set);
      if (!taxonomy) throw notFound('taxonomy');
      return ok(present(taxonomy));
    },
  });
}

function activityRoute({ taxonomies }: TaxonomyParts, verb: 'delete' | 'restore'): Route<Caller> {
  const isRestored = verb === 'restore';
  return route({
    method: isRestored ? 'POST' : 'DELETE',
    path: isRestored ? `${onePath}/restore` : onePath,
    group,
    summary: isRestored ? 'Restore a custom taxonomy' : 'Delete a custom taxonomy',
    description: isRestored ? '' : 'Later scans are not classified by it; it can be restored.',
    permission,
    params,
    replies: { 204: { description: isRestored ? 'It counts again.' : 'It counts no longer.' } },
    errors: isRestored ? ['not_found', 'custom_taxonomies.too_many'] : ['not_found'],
    handle: async ({ caller, params }) => {
      const { organizationId } = caller;
      const found = await taxonomies.find(organizationId, params.taxonomy_id);
      if (!found) throw notFound('taxonomy');
      if (isRestored && !found.is_active) await requireCapacity(taxonomies, organizationId);
      await taxonomies.change(organizationId, found._id, { is_active: isRestored, updated_at: new Date() });
      return noContent();
    },
  });
}

/** All taxonomies of an organization; refuses if no further one may be active. */
async function requireCapacity(taxonomies: TaxonomyStore, organizationId: string): Promise<TaxonomyRecord[]> {
  const all = await taxonomies.all(organizationId);
  if (all.filter(({ is_active }) => is_active).length < TAXONOMIES_MAX) return all;
  throw new ApiError('custom_taxonomies.too_many', `There can be at most ${TAXONOMIES_MAX} custom taxonomies.`);
}

const nodeIssues = (nodes: NodeIn[] | undefined, refused: ReadonlySet<string> | null): Issue[] =>
  nodes && refused && !refused.has('nodes')
    ? treeIssues(nodes).map((issue) => ({ ...issue, loc: ['body', 'nodes', ...issue.loc] }))
    : [];

/** A name in lower case with hyphens, numbered if the organization already has the slug. */
function freeSlug(name: string, all: TaxonomyRecord[]): string {
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

function presentItem({
  _id,
  name,
  slug,
  description,
  is_active,
  version,
  nodes,
  created_at,
  updated_at,
}: TaxonomyRecord) {
  const times = { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
  return { id: _id, name, slug, description, is_active, version, node_count: nodes.length, ...times };
}

function present(taxonomy: TaxonomyRecord) {
  const { node_count: _, ...item } = presentItem(taxonomy);
  return { ...item, organization_id: taxonomy.organization_id, nodes: taxonomy.nodes };
}
