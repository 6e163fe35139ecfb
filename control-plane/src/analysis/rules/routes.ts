import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { ok, type Route, route, type ValidPart } from '../../http/route.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { hiddenAmong, type Tags, visibleTags } from '../../reference/tags/tag-definitions.ts';
import { ruleIssues, type WrittenRule } from './check-rule.ts';
import { isKnown, type RuleRecord, slugsAssignedBy, unmetBy } from './rule.ts';
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
import { changeRule, createRule, findOwnRule, ownerFor, type RuleVerbParts, seenBy, tagIssues } from './rule-verbs.ts';

const group = 'Custom rules';
const path = '/api/v1/custom-rules';
const permission = 'custom_rules.manage';
const scope = Type.Optional(
  Type.Enum(['personal', 'system'], { default: 'personal', description: '`system`: rules of the platform.' }),
);

/** Operations on detection rules (spec 2.6; decisions 4). */
export function ruleRoutes(parts: RuleVerbParts): Route<Caller>[] {
  const { rules: store, readTags } = parts;
  const rules = resource<RuleRecord>({
    group,
    path,
    id: { name: 'id', description: 'The rule.' },
    noun: 'rule',
    schema: RuleSchema,
    permission: { read: 'scans.read', write: permission },
    presenter: async ({ organizationId }) => {
      const tags = await readTags(organizationId);
      return (rule) => present(rule, tags);
    },
  });
  return [
    rules.page({
      summary: 'List detection rules',
      query: { scope },
      reply: 'A page of rules, newest first.',
      rows: async ({ caller, organizationId, query }, { skip, limit }) => {
        if (query.scope !== 'system') return store.list(ownerOf(organizationId), skip, limit);
        return store.list(ownerOf(null), skip, limit, isOperator(caller) ? [] : hiddenAmong(await readTags(null)));
      },
    }),
    rules.create({
      summary: 'Create a detection rule',
      description:
        'It registers its tag where there is none of that slug yet, and judges every later scan; earlier ones after a recheck.',
      query: { scope },
      body: RuleInSchema,
      reply: 'The rule.',
      errors: [
        'checking.system_slug_reserved',
        'checking.too_many_rules',
        'checking.rules_too_large',
        'checking.too_many_tags',
      ],
      refine: (request) => createIssues(request, parts),
      create: ({ caller, id, query, body, now }) =>
        createRule(parts, ownerFor(caller, query.scope ?? 'personal'), { id, ...body }, now),
      presenter: () => async (rule: RuleRecord) => present(rule, await readTags(rule.organization_id)),
    }),
    parseRoute(),
    rules.read({
      summary: 'Read a detection rule',
      reply: 'The rule.',
      find: async ({ caller, organizationId, id }) => {
        const rule = await store.find(organizationId, id);
        if (!rule || isOperator(caller)) return rule;
        return isKnown(rule, new Set(hiddenAmong(await readTags(null)))) ? rule : null;
      },
    }),
    rules.change({
      method: 'PUT',
      summary: 'Change a detection rule',
      description: 'Its type stays. `config` is replaced as a whole; what is absent or null stays as it is.',
      body: RulePutSchema,
      reply: 'The rule.',
      errors: ['checking.system_slug_reserved', 'checking.rules_too_large', 'checking.too_many_tags'],
      change: async ({ caller, id, body, now }) => changeRule(parts, await findOwnRule(parts, caller, id), body, now),
    }),
    rules.command({
      method: 'DELETE',
      summary: 'Delete a detection rule',
      description: 'Its tag stays, with its assignments.',
      reply: 'It is gone.',
      errors: ['checking.built_in_rule'],
      run: async ({ caller, id }) => {
        const rule = await findOwnRule(parts, caller, id);
        if (!rule.built_in) return store.remove(rule);
        throw new ApiError('checking.built_in_rule', 'This rule comes with Adsweep: set is_active to false instead.');
      },
    }),
  ];
}

async function createIssues(
  { caller, query, body, refused }: ValidPart<Caller, Partial<RuleIn>, { scope?: 'personal' | 'system' }>,
  { readTags, problemsOf }: RuleVerbParts,
): Promise<Issue[]> {
  if (!refused) return [];
  const organization_id = ownerFor(caller, query.scope ?? 'personal');
  const tags = await readTags(organization_id);
  const { rule_type, config, target = 'page', tag_slug = '', tag_visibility = null } = body;
  const rule = rule_type && config ? ({ rule_type, config, target } satisfies WrittenRule) : null;
  const ofRule = rule
    ? await ruleIssues(rule, {
        tags: seenBy(organization_id, tags),
        ofPlatform: organization_id === null,
        problemsOf: (patterns) => problemsOf(organization_id, patterns),
      })
    : [];
  const named = { rule_type, config, tag_slug, organization_id };
  const ofTag = refused.has('tag_slug') ? [] : tagIssues(named, tag_visibility, tags);
  return [...ofRule, ...ofTag].map((issue) => ({ ...issue, loc: ['body', ...issue.loc] }));
}

function parseRoute(): Route<Caller> {
  return route({
    method: 'POST',
    path: `${path}/parse-list`,
    group,
    summary: 'Read a pasted list',
    description: 'Words or domains in lines, as CSV, or separated by semicolons or tabs, for `contains` and `domains`.',
    permission,
    body: ListTextSchema,
    replies: { 200: { description: 'The items of the list, each once.', schema: ListSchema } },
    handle: async ({ body }) => ok(await parseList(body.text)),
  });
}

function present(rule: RuleRecord, tags: Tags) {
  return {
    id: rule._id,
    ...pickFields(rule, 'organization_id', 'name', 'tag_slug', 'rule_type', 'config', 'target', 'is_active'),
    created_at: rule.created_at.toISOString(),
    scope: rule.organization_id === null ? 'system' : 'personal',
    tag_visibility: visibilityOf(slugsAssignedBy(rule), tags),
    cannot_match: rule.organization_id === null ? null : unmetBy(rule, visibleTags(tags)),
  };
}

const visibilityOf = (slugs: string[], tags: Tags) =>
  Object.fromEntries(
    slugs.flatMap((slug) => {
      const tag = tags.get(slug);
      return tag ? [[slug, tag.visibility] as const] : [];
    }),
  );
