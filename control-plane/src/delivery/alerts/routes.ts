import { Type } from 'typebox';
import { type Caller, isOperator } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, ok, orNull, type Route, route } from '../../http/route.ts';
import { ALERT_STATUSES } from '../../platform/outbox/outbox-entry.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import { ALERT_URL_MAX, type AlertRecord } from './alert.ts';
import {
  AlertBulkInSchema,
  AlertStatusInSchema,
  alertQueryIssues,
  bulkIssues,
  listQuery,
  readAlertQuery,
  readBulkFilter,
  type SentFilter,
  statsQuery,
} from './alert-query.ts';
import type { AlertStore } from './alert-store.ts';
import { changeAlert, changeMatching, changeNamed } from './change-alerts.ts';
import { searchableTags, shownTag } from './shown-alert.ts';

export type AlertParts = {
  alerts: AlertStore;
  readTags: ReadTags;
  /** The names of the policy sets that the organization can have alerts of, by id; deleted ones are missing. */
  policySetNames: (organizationId: string, ids: string[]) => Promise<Map<string, string>>;
  /** Called when an alert was changed. */
  outboxFilled: () => void;
};

const group = 'Alerts';
const path = '/api/v1/alerts';

const AlertSchema = Type.Object(
  {
    id: Type.String(),
    scan_id: Type.String({ description: 'The scan; alerts are kept when retention removes it, and it is 404 then.' }),
    campaign_id: Type.String(),
    policy_set_id: orNull(Type.String({ description: 'null: the set was deleted.' })),
    policy_set_name: orNull(Type.String()),
    violation_rule_id: orNull(Type.String({ description: 'The entry of the policy set.' })),
    organization_id: Type.String(),
    rule_type: Type.Enum(['tag', 'iab_v3', 'brand', 'ai_category', 'custom_taxonomy']),
    tag_slug: Type.String({ description: 'For other kinds than `tag` a key, such as `brand:Acme`.' }),
    tag_display_name: Type.String(),
    matched_value: orNull(Type.String({ description: 'What the entry matched; null for tags.' })),
    country_code: Type.String(),
    status: Type.Enum([...ALERT_STATUSES]),
    closed_by: orNull(Type.String({ description: 'The id of the key that resolved or dismissed it.' })),
    scan_url: Type.String({
      description: `The first ${ALERT_URL_MAX} characters of the target; '' for ad tags and VAST tags.`,
    }),
    offer_url: Type.String({ description: `The first ${ALERT_URL_MAX} characters of the final URL of the landing.` }),
    created_at: moment(),
    updated_at: orNull(moment()),
  },
  { title: 'Alert' },
);

const count = Type.Integer({ minimum: 0 });
const StatsSchema = Type.Object(
  { open: count, escalated: count, resolved: count, dismissed: count },
  { title: 'AlertStats' },
);
const BulkSchema = Type.Object(
  {
    updated: count,
    skipped: Type.Integer({ minimum: 0, description: 'They have the status already, or cannot get it.' }),
    remaining: Type.Integer({ minimum: 0, description: 'Further ones that can be changed: repeat the call.' }),
  },
  { title: 'AlertBulk' },
);

/** Operations on alerts (spec 4.5). */
export function alertRoutes(parts: AlertParts): Route<Caller>[] {
  const { alerts, outboxFilled } = parts;
  const items = resource<AlertRecord>({
    group,
    path,
    id: { name: 'alert_id', description: 'The alert.' },
    noun: 'alert',
    schema: AlertSchema,
    permission: { read: 'alerts.read', write: 'alerts.manage' },
    presenter: (caller) => presenterFor(parts, caller),
    written: outboxFilled,
  });
  return [
    items.page({
      summary: 'List alerts',
      description: 'Newest first. Filters are joined by "and"; of comma-separated values any matches.',
      reply: 'A page of alerts.',
      query: listQuery,
      hasCursors: true,
      refine: ({ query }) => alertQueryIssues(query),
      rows: async ({ caller, organizationId, query }, window) =>
        alerts.list(organizationId, await searchable(parts, caller, readAlertQuery(query)), window),
    }),
    statsRoute(parts),
    bulkRoute(parts),
    items.read({
      summary: 'Read an alert',
      reply: 'The alert.',
      find: ({ organizationId, id }) => alerts.find(organizationId, id),
    }),
    items.command({
      method: 'PATCH',
      below: 'status',
      summary: 'Change the status of an alert',
      description:
        'From `open` to `escalated`, `resolved` or `dismissed`, from `escalated` to `resolved` or `dismissed`, and from those back to `open`. The same status again changes nothing.',
      body: AlertStatusInSchema,
      reply: 'The alert has the status.',
      errors: ['alerts.transition_not_allowed'],
      run: ({ caller, organizationId, id, body, now }) =>
        changeAlert(alerts, organizationId, id, { status: body.status, keyId: caller.keyId, now }),
    }),
  ];
}

function statsRoute(parts: AlertParts): Route<Caller> {
  return route({
    method: 'GET',
    path: `${path}/stats`,
    group,
    summary: 'Count alerts by status',
    description: 'The four counts are together the total of the list with the same filters. Without days, of all time.',
    permission: 'alerts.read',
    query: Type.Object(statsQuery, { additionalProperties: false }),
    replies: { 200: { description: 'The counts.', schema: StatsSchema } },
    refine: ({ query }) => alertQueryIssues(query),
    handle: async ({ caller, query }) => {
      const { statuses: _, ...filter } = await searchable(parts, caller, readAlertQuery(query));
      return ok(await parts.alerts.countByStatus(caller.organizationId, filter));
    },
  });
}

function bulkRoute(parts: AlertParts): Route<Caller> {
  const { alerts, outboxFilled } = parts;
  return route({
    method: 'POST',
    path: `${path}/bulk-status`,
    group,
    summary: 'Change the status of many alerts',
    description:
      'Those with these `ids`, or all that the filters match, oldest first; one call changes 10,000 at most.',
    permission: 'alerts.manage',
    body: AlertBulkInSchema,
    replies: { 200: { description: 'What was changed.', schema: BulkSchema } },
    refine: ({ body, refused }) => (refused ? bulkIssues(body, refused) : []),
    handle: async ({ caller, body }) => {
      const { organizationId, keyId } = caller;
      const write = { status: body.status, keyId, now: new Date() };
      const result = body.ids
        ? await changeNamed(alerts, organizationId, body.ids, write)
        : await changeMatching(alerts, organizationId, await searchable(parts, caller, readBulkFilter(body)), write);
      if (result.updated > 0) outboxFilled();
      return ok(result);
    },
  });
}

/** The filter without tags that the caller cannot search for. */
async function searchable({ readTags }: AlertParts, caller: Caller, filter: SentFilter): Promise<SentFilter> {
  if (!filter.tag_slug) return filter;
  const tags = await readTags(caller.organizationId, filter.tag_slug);
  return { ...filter, tag_slug: searchableTags(filter.tag_slug, tags, isOperator(caller)) };
}

async function presenterFor({ readTags, policySetNames }: AlertParts, caller: Caller) {
  const tags = await readTags(caller.organizationId);
  const names = new Map<string, Promise<string | null>>();
  const nameOf = (id: string): Promise<string | null> => {
    const known = names.get(id) ?? policySetNames(caller.organizationId, [id]).then((found) => found.get(id) ?? null);
    names.set(id, known);
    return known;
  };
  return async (alert: AlertRecord) => {
    const { _id, organization_id, scan_id, campaign_id, entry_id, rule_type, country_code, status } = alert;
    const policy_set_name = await nameOf(alert.policy_set_id);
    const { closed_by, created_at, updated_at, scan_url, offer_url } = alert;
    return {
      id: _id,
      scan_id,
      campaign_id,
      policy_set_id: policy_set_name === null ? null : alert.policy_set_id,
      policy_set_name,
      violation_rule_id: entry_id,
      organization_id,
      rule_type,
      country_code,
      status,
      closed_by,
      ...shownTag(alert, tags, isOperator(caller)),
      scan_url,
      offer_url,
      created_at: created_at.toISOString(),
      updated_at: updated_at?.toISOString() ?? null,
    };
  };
}
