import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import { type Caller, isOperator } from '../../http/caller.ts';
import { type ResourceRequest, resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { ScanDomain } from '../../scan/scan-domain.ts';
import type { TaxonomyStore } from '../taxonomies/taxonomy-store.ts';
import { POLICY_BOUNDS, type PolicyIn, PolicyInSchema, type PolicyWords, readEntries } from './policy-in.ts';
import { EVERYONE, OPERATOR, ownerAudience, type PolicySetRecord } from './policy-set.ts';
import type { PolicySetRow } from './policy-set-store.ts';
import {
  type BoundCampaign,
  bind,
  campaignIdIssues,
  changeSet,
  deleteSet,
  findOwnSet,
  findVisibleSet,
  moderate,
  type PolicySetParts,
  requestApproval,
  requireBindable,
  requireCampaigns,
  requireShareable,
  setDefault,
  takeDown,
  unpublish,
} from './policy-set-verbs.ts';
import { previewPolicy } from './preview.ts';
import {
  LinkedCampaignSchema,
  PolicySetItemSchema,
  PolicySetSchema,
  PreviewSchema,
  presentItem,
  presentLinked,
  presentSet,
} from './responses.ts';

export type PolicyRouteParts = PolicySetParts & {
  taxonomies: Pick<TaxonomyStore, 'active'>;
  judgedSince: ScanDomain['stores']['scans']['judgedSince'];
};

/** Bound campaigns that a set is shown with. */
const LINKED_MAX = 20;
const PREVIEW_CAMPAIGNS_MAX = 50;

const group = 'Policy sets';
const path = '/api/v1/policy-sets';
const permission = { read: 'policies.read', write: 'policies.manage' } as const;
const params = Type.Object({ policy_set_id: Type.String({ description: 'The policy set.' }) });
const ids = (maxItems: number, minItems = 0) => Type.Array(Type.String({ maxLength: 100 }), { minItems, maxItems });

/** Operations on policy sets. */
export function policyRoutes(parts: PolicyRouteParts): Route<Caller>[] {
  const { sets } = parts;
  const common = { group, path, id: { name: 'policy_set_id', description: 'The policy set.' }, noun: 'policy set' };
  const all = resource<PolicySetRecord>({
    ...common,
    permission,
    schema: PolicySetSchema,
    presenter: (caller) => (set) => presentWhole(parts, caller, set),
  });
  const rows = resource<PolicySetRow>({
    ...common,
    permission,
    schema: PolicySetItemSchema,
    presenter: async (caller) => {
      const defaultId = await sets.defaultOf(caller.organizationId);
      return (set) => presentItem(set, caller, defaultId);
    },
  });
  return [
    rows.page({
      summary: 'List policy sets',
      description: 'Your own and the approved ones of others, newest first, without their entries.',
      reply: 'A page of policy sets.',
      query: { visibility: Type.Optional(Type.Enum(['private', 'public'])) },
      rows: ({ caller, organizationId, query: { visibility } }, window) => {
        const audiences = [ownerAudience(organizationId), EVERYONE, ...(isOperator(caller) ? [OPERATOR] : [])];
        return sets.list(audiences, visibility ? { visibility } : {}, window);
      },
    }),
    all.create({
      summary: 'Create a policy set',
      description: 'Scans of the campaigns that are bound to it raise an alert for each entry that they violate.',
      body: PolicyInSchema,
      bodyBounds: POLICY_BOUNDS,
      reply: 'The policy set.',
      errors: ['policies.too_many'],
      refine: ({ caller, body, refused }) => (refused ? bodyIssues(parts, caller, body, refused) : []),
      create: async ({ caller, organizationId: organization_id, id, body, now }) => {
        const earlier = await sets.findAny(id);
        if (!earlier) {
          const { entries } = await readEntries(id, body.entries, await wordsFor(parts, caller));
          const words = { name: body.name.trim(), description: body.description ?? '', entries };
          await sets.insert({
            _id: id,
            organization_id,
            ...words,
            visibility: 'private',
            is_approved: false,
            moderation_note: null,
            approved: null,
            deleted_at: null,
            audiences: [],
            tag_slugs: [],
            version: 0,
            created_at: now,
          });
        }
        if (body.campaign_ids) await bind(parts, organization_id, id, body.campaign_ids);
        return findOwnSet(parts, organization_id, id);
      },
    }),
    all.read({
      summary: 'Read a policy set',
      reply: 'The policy set.',
      find: ({ caller, id }) => findVisibleSet(parts, caller, id),
    }),
    all.change({
      method: 'PUT',
      summary: 'Change a policy set',
      description:
        'Replaces name, description and entries, and if `campaign_ids` is sent, which of your campaigns are bound. A public set awaits approval again; campaigns of others keep the copy that was approved.',
      body: PolicyInSchema,
      bodyBounds: POLICY_BOUNDS,
      reply: 'The policy set.',
      errors: ['policies.private_entries', 'policies.too_many'],
      refine: ({ caller, body, refused }) => (refused ? bodyIssues(parts, caller, body, refused) : []),
      change: (request) => replaceSet(parts, request),
    }),
    all.command({
      method: 'DELETE',
      summary: 'Delete a policy set',
      description: 'Its alerts stay. Campaigns of others that are bound to it keep the copy that was approved.',
      reply: 'It is deleted.',
      errors: ['policies.in_use'],
      run: ({ organizationId, id, now }) => deleteSet(parts, organizationId, id, now),
    }),
    boundRoute(parts),
    all.command({
      method: 'POST',
      below: 'campaigns/attach',
      summary: 'Bind campaigns to a policy set',
      description: 'Campaigns that are bound to another set move to this one.',
      body: Type.Object({ campaign_ids: ids(500, 1) }, { additionalProperties: false, title: 'AttachIn' }),
      reply: 'They are bound.',
      errors: ['policies.not_published'],
      run: async ({ organizationId, id, body: { campaign_ids } }) => {
        await requireBindable(parts, organizationId, id, { bound: false });
        await requireCampaigns(parts, organizationId, campaign_ids);
        await bind(parts, organizationId, id, campaign_ids);
      },
    }),
    all.command({
      method: 'POST',
      below: 'campaigns/detach',
      summary: 'Unbind campaigns from a policy set',
      description: 'Ids of campaigns that are not bound to it are ignored.',
      body: Type.Object(
        { campaign_ids: Type.Optional(ids(500)), detach_all: Type.Optional(Type.Boolean({ default: false })) },
        { additionalProperties: false, title: 'DetachIn' },
      ),
      reply: 'They are not bound to it.',
      run: async ({ organizationId, id, body: { campaign_ids = [], detach_all = false } }) => {
        await requireBindable(parts, organizationId, id, { bound: true });
        await parts.unbindCampaigns(organizationId, id, detach_all ? {} : { ids: campaign_ids });
      },
    }),
    all.command({
      method: 'POST',
      below: 'set-default',
      summary: 'Make a policy set the default',
      description: 'New campaigns that name no set are bound to it. An organization has one default at most.',
      body: Type.Object({ is_default: Type.Boolean() }, { additionalProperties: false, title: 'SetDefaultIn' }),
      reply: 'It is the default, or no longer.',
      run: ({ organizationId, id, body }) => setDefault(parts, organizationId, id, body.is_default),
    }),
    ...publicationRoutes(parts, all),
    previewRoute(parts),
  ];
}

function publicationRoutes(
  parts: PolicyRouteParts,
  all: ReturnType<typeof resource<PolicySetRecord>>,
): Route<Caller>[] {
  const reasonIn = (title: string) =>
    Type.Object({ reason: Type.String({ minLength: 1, maxLength: 2_000 }) }, { additionalProperties: false, title });
  const Approve = Type.Object(
    {
      version: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'The `version` that was read: a set that has another one stays as it is.',
        }),
      ),
    },
    { additionalProperties: false, title: 'ApproveIn' },
  );
  return [
    all.command({
      method: 'POST',
      below: 'request-approval',
      summary: 'Request the publication of a policy set',
      description: 'The operator approves or rejects it. Own tags and taxonomies cannot be shared.',
      reply: 'It awaits approval, or is approved.',
      errors: ['policies.private_entries'],
      run: ({ organizationId, id }) => requestApproval(parts, organizationId, id),
    }),
    all.command({
      method: 'POST',
      below: 'unpublish',
      summary: 'End the publication of a policy set',
      description: 'Campaigns of others that are bound to it keep the copy that was approved.',
      reply: 'It is private.',
      run: ({ organizationId, id }) => unpublish(parts, organizationId, id),
    }),
    all.command({
      method: 'POST',
      below: 'approve',
      summary: 'Approve a policy set',
      description:
        "Needs the operator's key. Every organization can bind campaigns to it. With the `version` that was read, a set that its owner changed meanwhile is not approved.",
      permission: 'organizations.manage',
      body: Approve,
      bodyIsOptional: true,
      reply: 'It is approved.',
      errors: ['policies.not_awaiting', 'policies.private_entries', 'policies.changed'],
      run: ({ caller, id, body: { version = null }, now }) => moderate(parts, caller, id, { approvedAt: now, version }),
    }),
    all.command({
      method: 'POST',
      below: 'reject',
      summary: 'Reject a policy set',
      description: "Needs the operator's key. The reason is the `moderation_note` of the set.",
      permission: 'organizations.manage',
      body: reasonIn('RejectIn'),
      reply: 'It is private.',
      errors: ['policies.not_awaiting'],
      run: ({ caller, id, body }) => moderate(parts, caller, id, { reason: body.reason }),
    }),
    all.command({
      method: 'POST',
      below: 'take-down',
      summary: 'Take down a policy set',
      description:
        "Ends the publication of an approved set. Needs the operator's key. The reason is the `moderation_note` of the set; campaigns of others that are bound to it keep the copy that was approved.",
      permission: 'organizations.manage',
      body: reasonIn('TakeDownIn'),
      reply: 'It is private.',
      errors: ['policies.not_published'],
      run: ({ caller, id, body }) => takeDown(parts, caller, id, body.reason),
    }),
  ];
}

function boundRoute(parts: PolicyRouteParts): Route<Caller> {
  const campaigns = resource<BoundCampaign>({
    group,
    path: `${path}/{policy_set_id}/campaigns`,
    id: null,
    noun: 'policy set',
    permission,
    schema: LinkedCampaignSchema,
    presenter: () => presentLinked,
  });
  return campaigns.page({
    summary: 'List the campaigns of a policy set',
    description: 'Those of your organization, by name.',
    reply: 'A page of campaigns.',
    query: { q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name.' })) },
    rows: async ({ caller, organizationId, params: { policy_set_id: id = '' }, query: { q } }, window) => {
      const isVisible = (await findVisibleSet(parts, caller, id)) !== null;
      if (!isVisible) await requireBindable(parts, organizationId, id, { bound: true });
      return parts.boundCampaigns(organizationId, id, { ...window, ...(q !== undefined && { name: q }) });
    },
  });
}

function previewRoute(parts: PolicyRouteParts): Route<Caller> {
  return route({
    method: 'POST',
    path: `${path}/{policy_set_id}/preview`,
    group,
    summary: 'Try a policy set on finished scans',
    description: 'What it would have found in scans of the last days, the newest 5,000 at most. Nothing is stored.',
    permission: 'policies.read',
    params,
    body: Type.Object(
      {
        days: Type.Integer({ minimum: 1, maximum: 30 }),
        campaign_ids: Type.Optional(ids(PREVIEW_CAMPAIGNS_MAX, 1)),
      },
      { additionalProperties: false, title: 'PolicyPreviewIn', examples: [{ days: 7 }] },
    ),
    replies: { 200: { description: 'What it would have found.', schema: PreviewSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params: { policy_set_id: id }, body: { days, campaign_ids = null } }) => {
      const set = await findVisibleSet(parts, caller, id);
      if (!set) throw notFound('policy set');
      const { organizationId } = caller;
      if (campaign_ids) await requireCampaigns(parts, organizationId, campaign_ids);
      const tags = await parts.readTags(organizationId);
      const since = new Date(Date.now() - days * DAY_MS);
      return ok(
        await previewPolicy(parts, organizationId, { entries: set.entries, tags, since, campaigns: campaign_ids }),
      );
    },
  });
}

async function wordsFor({ readTags, taxonomies }: PolicyRouteParts, caller: Caller): Promise<PolicyWords> {
  const { organizationId } = caller;
  const [tags, own] = await Promise.all([readTags(organizationId), taxonomies.active(organizationId)]);
  return { tags, taxonomyIds: new Set(own.map(({ _id }) => _id)), seesHidden: isOperator(caller) };
}

async function bodyIssues(
  parts: PolicyRouteParts,
  caller: Caller,
  { entries, campaign_ids }: Partial<PolicyIn>,
  refused: ReadonlySet<string>,
): Promise<Issue[]> {
  const read = refused.has('entries') ? null : await readEntries('', entries ?? [], await wordsFor(parts, caller));
  const hasIds = campaign_ids && !refused.has('campaign_ids');
  return [
    ...(read?.issues ?? []),
    ...(hasIds ? await campaignIdIssues(parts, caller.organizationId, campaign_ids) : []),
  ];
}

async function replaceSet(
  parts: PolicyRouteParts,
  { caller, organizationId, id, body }: ResourceRequest<unknown, PolicyIn>,
): Promise<PolicySetRecord> {
  const { entries } = await readEntries(id, body.entries, await wordsFor(parts, caller));
  const words = { name: body.name.trim(), description: body.description ?? '', entries };
  const find = () => findOwnSet(parts, organizationId, id);
  const changed = await changeSet(parts, find, async (set) => {
    if (set.visibility === 'public') await requireShareable(parts, { ...set, entries });
    return { ...words, is_approved: false };
  });
  if (body.campaign_ids) {
    await bind(parts, organizationId, id, body.campaign_ids);
    await parts.unbindCampaigns(organizationId, id, { kept: body.campaign_ids });
  }
  return changed;
}

async function presentWhole(parts: PolicyRouteParts, caller: Caller, set: PolicySetRecord) {
  const { organizationId } = caller;
  const [defaultId, tags, bound] = await Promise.all([
    parts.sets.defaultOf(organizationId),
    parts.readTags(organizationId),
    parts.boundCampaigns(organizationId, set._id, { skip: 0, limit: LINKED_MAX }),
  ]);
  return presentSet(set, caller, { defaultId, tags, bound });
}
