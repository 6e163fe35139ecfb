import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError, notFound, refused } from '../../http/api-error.ts';
import { type Caller, lacksPermission } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import { defaultGroupId, type GroupRecord } from '../groups/group.ts';
import { listFilterIssues, listFilters, readListFilters } from '../groups/list-filters.ts';
import type { GroupParts } from '../groups/routes.ts';
import { CHECK_ERRORS } from '../scans/request/create-scans.ts';
import { replanned } from '../schedules/schedule.ts';
import { changedSchedule } from '../schedules/schedule-in.ts';
import { routingOf } from './alert-routing.ts';
import { type CampaignRecord, type CampaignSettings, newCampaign, UNSCHEDULED_SETTINGS } from './campaign.ts';
import { type CampaignIn, CampaignInSchema, type CampaignPatch, CampaignPatchSchema } from './campaign-in.ts';
import type { CampaignStore } from './campaign-store.ts';
import { type CampaignCheckParts, campaignIssues, settingsOf } from './check-campaign.ts';
import { CampaignPickSchema, CampaignSchema, presentCampaign, presentPick } from './responses.ts';

export type CampaignParts = CampaignCheckParts &
  Pick<GroupParts, 'archiveCampaigns'> & {
    campaigns: CampaignStore;
    findGroup: (organizationId: string, id: string) => Promise<GroupRecord | null>;
    /** Whether a policy set to which a campaign was bound is deleted. */
    isPolicySetGone: (organizationId: string, id: string) => Promise<boolean>;
    /** The policy set of new campaigns that name none; null: none. */
    defaultPolicySet: (organizationId: string) => Promise<string | null>;
  };

const PICKED_MAX = 100;

const [group, path] = ['Campaigns', '/api/v1/campaigns'];
const inGroup = Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Campaigns of this group.' }));

const ERRORS = [
  ...CHECK_ERRORS,
  'campaigns.run_too_large',
  'campaign_groups.archived',
  'notifications.invalid_override_combination',
  'notifications.invalid_label_routing_combination',
  'catalogue.not_ready',
] as const;

/** Operations on campaigns. */
export function campaignRoutes(parts: CampaignParts): Route<Caller>[] {
  const { campaigns, addresses } = parts;
  const shared = { group, path, id: { name: 'campaign_id', description: 'The campaign.' }, noun: 'campaign' };
  const permission = { read: 'campaigns.read', write: 'campaigns.write' } as const;
  const all = resource<CampaignRecord>({
    ...shared,
    permission,
    schema: CampaignSchema,
    presenter: () => async (campaign) => presentCampaign(await campaigns.withTarget(campaign)),
  });
  const rows = resource<CampaignRecord>({
    ...shared,
    permission,
    schema: CampaignSchema,
    presenter: () => presentCampaign,
  });
  return [
    rows.page({
      summary: 'List campaigns',
      description: 'Newest first. Filters are joined by "and".',
      reply: 'A page of campaigns.',
      query: { ...listFilters, group_id: inGroup },
      refine: ({ query }) => listFilterIssues(query),
      rows: ({ organizationId, query: { group_id, ...query } }, window) =>
        campaigns.list(
          organizationId,
          { ...readListFilters(query), ...(group_id !== undefined && { group_id }) },
          window,
        ),
    }),
    all.create({
      summary: 'Create a campaign',
      description:
        'Of the targets, exactly the one of its type. A run makes a scan, or a group of repeats, in each country on each device.',
      reply: 'The campaign.',
      body: CampaignInSchema,
      errors: [...ERRORS, 'campaigns.too_many'],
      refine: async ({ caller, body, refused }) => {
        requireRoutingPermission(caller, body);
        return refused ? parts.certainOf(await campaignIssues(parts, caller.organizationId, body, refused)) : [];
      },
      create: async ({ organizationId, id, body, now }) => {
        const earlier = await campaigns.find(organizationId, id);
        if (earlier) return earlier;
        const groupId = body.group_id ?? defaultGroupId(organizationId);
        await requireActiveGroup(parts, organizationId, groupId);
        const policy_set_id =
          body.policy_set_id === undefined ? await parts.defaultPolicySet(organizationId) : body.policy_set_id;
        const campaign = {
          ...newCampaign(settingsOf({ ...body, policy_set_id }, groupId, addresses), { id, organizationId, now }),
          ...(body.notifications && { notifications: routingOf(body.notifications) }),
        };
        await campaigns.insertWithin(campaign);
        return followGroup(parts, await followSet(parts, campaign));
      },
    }),
    pickerRoute(parts),
    all.read({
      summary: 'Read a campaign',
      reply: 'The campaign.',
      find: ({ organizationId, id }) => campaigns.find(organizationId, id),
    }),
    all.change({
      summary: 'Change a campaign',
      description:
        'Later runs use the new values. Omitted fields keep their values, which are not checked again; null removes a referrer or a policy set, and restores the default of `max_discovered_ads` and `ad_formats`.',
      reply: 'The campaign.',
      body: CampaignPatchSchema,
      errors: [...ERRORS, 'campaigns.archived', 'campaigns.too_many'],
      refine: async ({ caller, params, body, refused }) => {
        requireRoutingPermission(caller, body);
        const found = refused && (await campaigns.find(caller.organizationId, params.campaign_id!));
        return found ? issuesOfChange(parts, await campaigns.withTarget(found), body, withoutType(refused)) : [];
      },
      change: ({ organizationId, id, body }) => changeCampaign(parts, organizationId, id, body),
    }),
    archiveRoute(parts, true),
    archiveRoute(parts, false),
  ];
}

/** The type cannot be sent in a change: the campaign has it. */
const withoutType = (refused: ReadonlySet<string>) => refused.difference(new Set(['campaign_type']));

/** The policy set that a change binds the campaign to; null: it binds it to no other one. */
const newSet = (campaign: CampaignSettings, { policy_set_id = null }: Partial<CampaignPatch>): string | null =>
  policy_set_id === campaign.policy_set_id ? null : policy_set_id;

/** The settings of a campaign after a change. */
const changed = (campaign: CampaignSettings, body: Partial<CampaignPatch>): CampaignIn => {
  // A client that fills in null for what it does not change starts no schedule that is paused.
  const { schedule_enabled, ...sent } = body;
  return {
    ...pickFields(campaign, ...UNSCHEDULED_SETTINGS),
    ...changedSchedule(campaign, body),
    ...sent,
    ...(schedule_enabled != null && { schedule_enabled }),
  };
};

/**
 * The problems that a change leads to. What it leaves as it is was checked before, and may name what was archived,
 * unpublished or has become unroutable since: a problem that the campaign has without the change is none of the change,
 * unless it sends the field again.
 */
async function issuesOfChange(
  parts: CampaignParts,
  campaign: CampaignRecord,
  body: Partial<CampaignPatch>,
  refused: ReadonlySet<string>,
): Promise<Issue[]> {
  const issuesWith = (change: Partial<CampaignPatch>) => {
    const named = { group_id: change.group_id, policy_set_id: newSet(campaign, change) };
    return campaignIssues(parts, campaign.organization_id, { ...changed(campaign, change), ...named }, refused);
  };
  const issues = await issuesWith(body);
  if (issues.length === 0) return issues;
  const before = new Set((await issuesWith({})).map((issue) => JSON.stringify(issue)));
  return parts.certainOf(
    issues.filter((issue) => !before.has(JSON.stringify(issue)) || Object.hasOwn(body, String(issue.loc[1]))),
  );
}

/**
 * Writes a change to the campaign as it is now; null: there is none. If another change comes first, its result is
 * checked and changed.
 */
async function changeCampaign(
  parts: CampaignParts,
  organizationId: string,
  id: string,
  body: CampaignPatch,
): Promise<CampaignRecord | null> {
  const { campaigns, addresses } = parts;
  const routing = body.notifications ? routingOf(body.notifications) : undefined;
  for (let isRepeated = false; ; isRepeated = true) {
    const found = await campaigns.find(organizationId, id);
    if (!found) return null;
    if (found.is_archived) throw archived();
    if (body.group_id !== undefined && body.group_id !== found.group_id)
      await requireActiveGroup(parts, organizationId, body.group_id);
    const whole = await campaigns.withTarget(found);
    const issues = isRepeated ? await issuesOfChange(parts, whole, body, new Set()) : [];
    if (issues.length > 0) throw refused(issues);
    const sent = changed(whole, body);
    const settings = settingsOf(sent, sent.group_id!, addresses);
    const plan = replanned(found, settings, new Date());
    const written = await campaigns.change(found, settings, plan, routing);
    if (written) return followGroup(parts, await followSet(parts, written));
  }
}

function archiveRoute(parts: CampaignParts, isArchived: boolean): Route<Caller> {
  const { campaigns } = parts;
  return route({
    method: 'POST',
    path: `${path}/{campaign_id}/${isArchived ? 'archive' : 'unarchive'}`,
    group,
    summary: isArchived ? 'Archive a campaign' : 'Restore a campaign',
    description: isArchived
      ? 'It cannot run or change until it is restored. Its scans are kept, and those that wait or run go on.'
      : 'A campaign of an archived group is restored with its group.',
    permission: 'campaigns.write',
    params: Type.Object({ campaign_id: Type.String({ description: 'The campaign.' }) }),
    replies: { 200: { description: 'The campaign.', schema: CampaignSchema } },
    errors: ['not_found', ...(isArchived ? [] : (['campaign_groups.archived'] as const))],
    handle: async ({ caller: { organizationId }, params }) => {
      const found = await campaigns.find(organizationId, params.campaign_id);
      if (!found) throw notFound('campaign');
      if (!isArchived) await requireActiveGroup(parts, organizationId, found.group_id);
      const done = (await campaigns.setArchived(organizationId, params.campaign_id, isArchived, new Date()))!;
      return ok(presentCampaign(await campaigns.withTarget(isArchived ? done : await followGroup(parts, done))));
    },
  });
}

function pickerRoute({ campaigns }: CampaignParts): Route<Caller> {
  const { archived: isArchived, q } = listFilters;
  const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: PICKED_MAX, default: PICKED_MAX }));
  return route({
    method: 'GET',
    path: `${path}/picker`,
    group,
    summary: 'Find campaigns by name',
    description: 'Newest first.',
    permission: 'campaigns.read',
    query: Type.Object({ archived: isArchived, group_id: inGroup, q, limit }, { additionalProperties: false }),
    replies: { 200: { description: 'The campaigns.', schema: Type.Array(CampaignPickSchema) } },
    handle: async ({ caller, query: { group_id, limit: most = PICKED_MAX, ...query } }) => {
      const filter = { ...readListFilters(query), ...(group_id !== undefined && { group_id }) };
      const { rows } = await campaigns.list(caller.organizationId, filter, { skip: 0, limit: most });
      return ok(rows.map(presentPick));
    },
  });
}

/** Who may not manage notifications cannot do so by a campaign. */
function requireRoutingPermission({ permissions, token }: Caller, { notifications }: Partial<CampaignIn>): void {
  if (!notifications || permissions.has('alert_notifications.manage')) return;
  throw lacksPermission('alert_notifications.manage', { isToken: token !== undefined });
}

async function requireActiveGroup(
  { findGroup }: Pick<CampaignParts, 'findGroup'>,
  organizationId: string,
  id: string,
): Promise<void> {
  if (!(await findGroup(organizationId, id))?.is_archived) return;
  throw new ApiError('campaign_groups.archived', 'The campaign group is archived.');
}

/**
 * A campaign that became active in a group while that was being archived, as it is then: archived too. Archiving marks
 * the group before it looks for campaigns, so either it finds the campaign, or this finds the mark.
 */
async function followGroup(
  { campaigns, findGroup, archiveCampaigns }: Pick<CampaignParts, 'campaigns' | 'findGroup' | 'archiveCampaigns'>,
  campaign: CampaignRecord,
): Promise<CampaignRecord> {
  const { _id, organization_id, group_id } = campaign;
  if (!(await findGroup(organization_id, group_id))?.is_archived) return campaign;
  await archiveCampaigns(organization_id, group_id, true);
  return (await campaigns.find(organization_id, _id)) ?? campaign;
}

/**
 * A campaign that was bound to a policy set while that was being deleted, as it is then: unbound. Deletion removes the
 * set before it unbinds its campaigns, so either it finds the campaign, or this finds that the set is gone.
 */
async function followSet(
  { campaigns, isPolicySetGone }: Pick<CampaignParts, 'campaigns' | 'isPolicySetGone'>,
  campaign: CampaignRecord,
): Promise<CampaignRecord> {
  const { _id, organization_id, policy_set_id } = campaign;
  if (policy_set_id === null || !(await isPolicySetGone(organization_id, policy_set_id))) return campaign;
  await campaigns.unbindFrom(organization_id, policy_set_id, { ids: [_id] });
  return (await campaigns.find(organization_id, _id)) ?? campaign;
}

/** The error of an archived campaign, which can do nothing. */
export const archived = (): ApiError => new ApiError('campaigns.archived', 'The campaign is archived.');
