import { newId } from '@adsweep/shared/ids.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { created, noContent, ok, type Route, route, type ValidPart } from '../../http/route.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import { ruleIssues, type WrittenRule } from './check-rule.ts';
import { type RuleRecord, slugsAssignedBy } from './rule.ts';
import {
  ListSchema,
  ListTextSchema,
  parseList,
  type RuleIn,
  RuleInSchema,
  RulePutSchema,
  RuleSchema,
} from './rule-in.ts';
import { ownerOf } from './rule-store.ts';
import { changeRule, createRule, findOwnRule, ownerFor, type RuleVerbParts, tagIssues } from './rule-verbs.ts';

const group = 'Custom rules';
const RulePath = Type.Object({ id: Type.String({ description: 'The rule.' }) });
const Scope = Type.Optional(
  Type.Enum(['personal', 'system'], { default: 'personal', description: '`system`: rules of the platform.' }),
);
const ScopeQuery = Type.Object({ scope: Scope }, { additionalProperties: false });
const ListQuery = Type.Object({ scope: Scope, ...pageQuery }, { additionalProperties: false });

/** Operations on detection rules (spec 2.6; decisions 4). */
export function ruleRoutes(parts: RuleVerbParts): Route<Caller>[] {
  return [
    listRoute(parts),
    createRoute(parts),
    parseRoute(),
    readRoute(parts),
    replaceRoute(parts),
    removeRoute(parts),
  ];
}

function listRoute({ rules, readTags }: RuleVerbParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/custom-rules',
    group,
    summary: 'List detection rules',
    permission: 'scans.read',
    query: ListQuery,
    replies: { 200: { description: 'A page of rules, newest first.', schema: pageSchema(RuleSchema) } },
    handle: async ({ caller, query }) => {
      const { skip, limit } = rowsOf(query);
      const owner = ownerOf(query.scope === 'system' ? null : caller.organizationId);
      const [{ rows, total }, tags] = await Promise.all([
        rules.list(owner, skip, limit),
        readTags(caller.organizationId),
      ]);
      const items = rows.map((rule) => present(rule, tags));
      return ok(presentPage(items, total, query));
    },
  });
}

function createRoute(parts: RuleVerbParts): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules',
    group,
    summary: 'Create a detection rule',
    description:
      'It registers its tag where there is none of that slug yet, and judges every later scan; earlier ones after a recheck.',
    permission: 'custom_rules.manage',
    query: ScopeQuery,
    body: RuleInSchema,
    replies: { 201: { description: 'The rule.', schema: RuleSchema } },
    errors: ['checking.system_slug_reserved', 'checking.too_many_rules'],
    refine: (request) => createIssues(request, parts),
    handle: async ({ caller, query, body, recordId = newId() }) => {
      const organizationId = ownerFor(caller, query.scope ?? 'personal');
      const rule = await createRule(parts, organizationId, { id: recordId, ...body }, new Date());
      return created(present(rule, await parts.readTags(organizationId)));
    },
  });
}

async function createIssues(
  { caller, query, body, refused }: ValidPart<Caller, Partial<RuleIn>, { scope?: 'personal' | 'system' }>,
  { readTags, problemsOf }: RuleVerbParts,
): Promise<Issue[]> {
  if (!refused) return [];
  const organization_id = query.scope === 'system' ? null : caller.organizationId;
  const tags = await readTags(organization_id);
  const { rule_type, config, target = 'page', tag_slug = '', tag_visibility = null } = body;
  const rule = rule_type && config ? ({ rule_type, config, target } satisfies WrittenRule) : null;
  const ofRule = rule ? await ruleIssues(rule, { tags, problemsOf }) : [];
  const named = { rule_type, config, tag_slug, organization_id };
  const ofTag = refused.has('tag_slug') ? [] : tagIssues(named, tag_visibility, tags);
  return [...ofRule, ...ofTag].map((issue) => ({ ...issue, loc: ['body', ...issue.loc] }));
}

function parseRoute(): Route<Caller> {
  return route({
    method: 'POST',
    path: '/api/v1/custom-rules/parse-list',
    group,
    summary: 'Read a pasted list',
    description: 'Words or domains in lines, as CSV, or separated by semicolons or tabs, for `contains` and `domains`.',
    permission: 'custom_rules.manage',
    body: ListTextSchema,
    replies: { 200: { description: 'The items of the list, each once.', schema: ListSchema } },
    handle: ({ body }) => ok(parseList(body.text)),
  });
}

function readRoute({ rules, readTags }: RuleVerbParts): Route<Caller> {
  return route({
    method: 'GET',
    path: '/api/v1/custom-rules/{id}',
    group,
    summary: 'Read a detection rule',
    permission: 'scans.read',
    params: RulePath,
    replies: { 200: { description: 'The rule.', schema: RuleSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params }) => {
      const rule = await rules.find(caller.organizationId, params.id);
      if (!rule) throw notFound('rule');
      return ok(present(rule, await readTags(caller.organizationId)));
    },
  });
}

function replaceRoute(parts: RuleVerbParts): Route<Caller> {
  return route({
    method: 'PUT',
    path: '/api/v1/custom-rules/{id}',
    group,
    summary: 'Change a detection rule',
    description: 'Its type stays. `config` is replaced as a whole; what is absent or null stays as it is.',
    permission: 'custom_rules.manage',
    params: RulePath,
    body: RulePutSchema,
    replies: { 200: { description: 'The rule.', schema: RuleSchema } },
    errors: ['not_found', 'checking.system_slug_reserved'],
    handle: async ({ caller, params, body }) => {
      const rule = await changeRule(parts, await findOwnRule(parts, caller, params.id), body, new Date());
      return ok(present(rule, await parts.readTags(caller.organizationId)));
    },
  });
}

function removeRoute(parts: RuleVerbParts): Route<Caller> {
  return route({
    method: 'DELETE',
    path: '/api/v1/custom-rules/{id}',
    group,
    summary: 'Delete a detection rule',
    description: 'Its tag stays, with its assignments.',
    permission: 'custom_rules.manage',
    params: RulePath,
    replies: { 204: { description: 'It is gone.' } },
    errors: ['not_found', 'checking.built_in_rule'],
    handle: async ({ caller, params }) => {
      const rule = await findOwnRule(parts, caller, params.id);
      if (rule.built_in)
        throw new ApiError('checking.built_in_rule', 'This rule comes with Adsweep: set is_active to false instead.');
      await parts.rules.remove(rule);
      return noContent();
    },
  });
}

function present(rule: RuleRecord, tags: Tags) {
  const { _id, organization_id, name, tag_slug, rule_type, config, target, is_active, created_at } = rule;
  return {
    ...{ id: _id, organization_id, name, tag_slug, rule_type, config, target, is_active },
    created_at: created_at.toISOString(),
    scope: organization_id === null ? 'system' : 'personal',
    tag_visibility: visibilityOf(slugsAssignedBy(rule), tags),
  };
}

const visibilityOf = (slugs: string[], tags: Tags) =>
  Object.fromEntries(
    slugs.flatMap((slug) => {
      const tag = tags.get(slug);
      return tag ? [[slug, tag.visibility] as const] : [];
    }),
  );
