import { newId } from '@adsweep/shared/ids.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { type TSchema, Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import { isWithin } from '../../http/calendar-days.ts';
import type { Caller } from '../../http/caller.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route, route } from '../../http/route.ts';
import { type GroupRecord, newGroup } from './group.ts';
import type { GroupStore } from './group-store.ts';
import { listFilterIssues, listFilters, readListFilters } from './list-filters.ts';

/** What is known of a group's campaigns. */
export type GroupSummary = { campaign_count: number; last_run_at: Date | null };

export type GroupParts = {
  groups: GroupStore;
  summaryOf: (organizationId: string, groupId: string) => Promise<GroupSummary>;
  /** Archives the campaigns of a group, or restores those that were archived with it. Returns how many. */
  archiveCampaigns: (organizationId: string, groupId: string, isArchived: boolean) => Promise<number>;
  /** Runs the campaigns of a group that are not archived; the same `requestId` runs each once. */
  runCampaigns: (organizationId: string, groupId: string, requestId: string) => Promise<GroupRun>;
  /** Cancels what waits of the campaigns of a group: of how many, and how many scans. */
  cancelCampaigns: (organizationId: string, groupId: string) => Promise<{ campaigns: number; scans: number }>;
};

const Name = Type.String({ maxLength: 200, pattern: '\\S' });
const GroupInSchema = Type.Object({ name: Name }, { additionalProperties: false, title: 'CampaignGroupIn' });
const GroupPatchSchema = Type.Object(
  { name: Type.Optional(Name) },
  { additionalProperties: false, title: 'CampaignGroupPatch' },
);
const GroupSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    is_default: Type.Boolean({ description: 'The group of campaigns that name none; it is never archived.' }),
    is_archived: Type.Boolean(),
    schedule_paused: Type.Boolean(),
    created_at: moment(),
    campaign_count: Type.Integer({ description: 'Its campaigns that are not archived.' }),
    last_run_at: orNull(moment('null: none of its campaigns has ever run.')),
  },
  { title: 'CampaignGroup' },
);
/** The runs of a group's campaigns that were started, and why the others were not. */
export type GroupRun = {
  run_ids: string[];
  failures: { campaign_id: string; error_code: string; detail: string }[];
};
type GroupAction = GroupRun & { group_id: string; affected_campaigns: number; cancelled_count: number };

const GroupActionSchema = Type.Object(
  {
    group_id: Type.String(),
    affected_campaigns: Type.Integer({ description: 'How many campaigns were changed, run or cancelled.' }),
    cancelled_count: Type.Integer({ description: 'How many scans were cancelled.' }),
    run_ids: Type.Array(Type.String(), { description: 'The runs that were started.' }),
    failures: Type.Array(
      Type.Object({ campaign_id: Type.String(), error_code: Type.String(), detail: Type.String() }),
      { description: 'The campaigns that could not be run.' },
    ),
  },
  { title: 'CampaignGroupAction' },
);

const [group, path] = ['Campaign groups', '/api/v1/campaign-groups'];

/** A group with what is known of its campaigns. */
type Shown = GroupRecord & GroupSummary;

/** Operations on groups of campaigns. */
export function groupRoutes(parts: GroupParts): Route<Caller>[] {
  const { groups, summaryOf } = parts;
  const shown = async (record: GroupRecord | null): Promise<Shown | null> =>
    record && { ...record, ...(await summaryOf(record.organization_id, record._id)) };
  const all = resource<Shown>({
    group,
    path,
    id: { name: 'group_id', description: 'The group.' },
    noun: 'campaign group',
    permission: { read: 'campaigns.read', write: 'campaigns.write' },
    schema: GroupSchema,
    presenter: () => present,
  });
  return [
    all.list({
      summary: 'List campaign groups',
      description: 'Newest first.',
      reply: 'The groups.',
      query: listFilters,
      refine: ({ query }) => listFilterIssues(query),
      rows: async ({ organizationId, query }) => {
        const { last_run, name, ...filter } = readListFilters(query);
        const found = (await groups.list(organizationId, filter)).filter(named(name));
        const rows = await inTurns(found, async (one) => (await shown(one))!);
        return rows.filter(({ last_run_at }) => !last_run || (last_run_at && isWithin(last_run_at, last_run)));
      },
    }),
    all.create({
      summary: 'Create a campaign group',
      reply: 'The group.',
      body: GroupInSchema,
      errors: ['campaign_groups.too_many'],
      create: async ({ organizationId, id, body, now }) => {
        const earlier = await groups.find(organizationId, id);
        if (!earlier) await groups.insertWithin(newGroup(id, organizationId, body.name.trim(), now));
        return (await shown(await groups.find(organizationId, id)))!;
      },
    }),
    all.read({
      summary: 'Read a campaign group',
      reply: 'The group.',
      find: async ({ organizationId, id }) => shown(await groups.find(organizationId, id)),
    }),
    all.change({
      summary: 'Rename a campaign group',
      reply: 'The group.',
      body: GroupPatchSchema,
      change: async ({ organizationId, id, body }) =>
        shown(await groups.change(organizationId, id, body.name === undefined ? {} : { name: body.name.trim() })),
    }),
    archiveRoute(parts, true),
    archiveRoute(parts, false),
    runRoute(parts),
    cancelRoute(parts),
    ...([true, false] as const).map((isPaused) =>
      actionRoute({
        below: isPaused ? 'pause-schedule' : 'resume-schedule',
        summary: isPaused ? 'Pause the schedules of a group' : 'Resume the schedules of a group',
        description: 'What would have run meanwhile is not made up for.',
        schema: GroupSchema,
        run: async (organizationId, id) => {
          const changed = await shown(await groups.change(organizationId, id, { schedule_paused: isPaused }));
          return changed && present(changed);
        },
      }),
    ),
  ];
}

/** Archiving takes the group's campaigns along; restoring brings back those that it took. Both may be repeated. */
function archiveRoute({ groups, archiveCampaigns }: GroupParts, isArchived: boolean): Route<Caller> {
  return actionRoute({
    below: isArchived ? 'archive' : 'unarchive',
    summary: isArchived ? 'Archive a campaign group' : 'Restore a campaign group',
    description: isArchived
      ? 'Archives its campaigns too. Scans that wait or run go on. The default group cannot be archived.'
      : 'Restores the campaigns that were archived with it.',
    schema: GroupActionSchema,
    errors: isArchived ? ['campaign_groups.is_default'] : [],
    run: async (organizationId, id) => {
      const found = await groups.find(organizationId, id);
      if (!found) return null;
      if (isArchived && found.is_default)
        throw new ApiError('campaign_groups.is_default', 'The default group cannot be archived.');
      // The group first, so that no campaign can be created in a group whose campaigns have been archived.
      await groups.change(organizationId, id, { is_archived: isArchived });
      return actionOn(id, { affected_campaigns: await archiveCampaigns(organizationId, id, isArchived) });
    },
  });
}

const actionOn = (group_id: string, done: { affected_campaigns: number } & Partial<GroupAction>): GroupAction => ({
  group_id,
  cancelled_count: 0,
  run_ids: [],
  failures: [],
  ...done,
});

/** Runs each campaign by itself: what hinders one is reported and does not hinder the others. */
function runRoute({ groups, runCampaigns }: GroupParts): Route<Caller> {
  return actionRoute({
    below: 'run',
    summary: 'Run the campaigns of a group',
    description: 'Starts a run of each campaign that is not archived, and lists those that could not be run.',
    status: 201,
    schema: GroupActionSchema,
    errors: ['campaign_groups.archived'],
    run: async (organizationId, id, requestId) => {
      const found = await groups.find(organizationId, id);
      if (!found) return null;
      if (found.is_archived) throw new ApiError('campaign_groups.archived', 'The campaign group is archived.');
      const { run_ids, failures } = await runCampaigns(organizationId, id, requestId);
      return actionOn(id, { affected_campaigns: run_ids.length, run_ids, failures });
    },
  });
}

function cancelRoute({ groups, cancelCampaigns }: GroupParts): Route<Caller> {
  return actionRoute({
    below: 'cancel',
    summary: 'Cancel the scans of a group',
    description: 'Cancels the pending scans of its campaigns, and those that are not created yet; running ones end.',
    schema: GroupActionSchema,
    run: async (organizationId, id) => {
      if (!(await groups.find(organizationId, id))) return null;
      const { campaigns, scans } = await cancelCampaigns(organizationId, id);
      return actionOn(id, { affected_campaigns: campaigns, cancelled_count: scans });
    },
  });
}

type Action = {
  below: string;
  summary: string;
  description: string;
  status?: 200 | 201;
  schema: TSchema;
  errors?: ErrorCode[];
  /** Returns the response; null: there is no such group. A repeated request has the same `requestId`. */
  run: (organizationId: string, id: string, requestId: string) => Promise<object | null>;
};

/** `POST` of an action on a group, with a response. */
function actionRoute({ below, summary, description, status = 200, schema, errors = [], run }: Action): Route<Caller> {
  return route({
    method: 'POST',
    path: `${path}/{group_id}/${below}`,
    group,
    summary,
    description,
    permission: 'campaigns.write',
    params: Type.Object({ group_id: Type.String({ description: 'The group.' }) }),
    replies: { [status]: { description: 'What was changed.', schema } },
    errors: ['not_found', ...errors],
    handle: async ({ caller, params, recordId = newId() }) => {
      const done = await run(caller.organizationId, params.group_id, recordId);
      if (!done) throw notFound('campaign group');
      return { status, body: done };
    },
  });
}

const named =
  (part = '') =>
  ({ name }: GroupRecord): boolean =>
    name.toLowerCase().includes(part.toLowerCase());

function present({ _id, organization_id: _, created_at, last_run_at, ...group }: Shown) {
  const times = { created_at: created_at.toISOString(), last_run_at: last_run_at?.toISOString() ?? null };
  return { id: _id, ...group, ...times };
}
