import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import {
  type AlertRouting,
  AlertRoutingInSchema,
  type FindUnknownDestinations,
  routingIssues,
  routingOf,
} from '../../scanning/campaigns/alert-routing.ts';
import { OverridesSchema } from './destination-schemas.ts';

export type OverrideParts = {
  findUnknown: FindUnknownDestinations;
  /** The routing of a campaign; null: there is no such campaign. */
  readRouting: (organizationId: string, campaignId: string) => Promise<AlertRouting | null>;
  /** Replaces it; false: there is no such campaign. */
  writeRouting: (organizationId: string, campaignId: string, routing: AlertRouting) => Promise<boolean>;
};

const shared = {
  path: '/api/v1/alert-notifications/campaigns/{campaign_id}/overrides',
  group: 'Alert notifications',
  permission: 'alert_notifications.manage' as const,
  params: Type.Object({ campaign_id: Type.String({ description: 'The campaign.' }) }),
};

/** Operations on the alert routing of a campaign (spec 2.8, 4.5). */
export function overrideRoutes({ findUnknown, readRouting, writeRouting }: OverrideParts): Route<Caller>[] {
  return [
    route({
      ...shared,
      method: 'GET',
      summary: 'Read the alert routing of a campaign',
      description: 'Of a campaign without one: `inherit`. Destinations that were deleted are left out.',
      replies: { 200: { description: 'The routing.', schema: OverridesSchema } },
      errors: ['not_found'],
      handle: async ({ caller: { organizationId }, params }) => {
        const routing = await readRouting(organizationId, params.campaign_id);
        if (!routing) throw notFound('campaign');
        const { mode, destination_ids: ids, routing_label_key } = routing;
        const gone = ids.length > 0 ? await findUnknown(organizationId, ids) : new Set<string>();
        const destination_ids = ids.filter((id) => !gone.has(id));
        return ok({ campaign_id: params.campaign_id, mode, destination_ids, routing_label_key });
      },
    }),
    route({
      ...shared,
      method: 'PUT',
      summary: 'Replace the alert routing of a campaign',
      body: AlertRoutingInSchema,
      replies: { 204: { description: 'Replaced.' } },
      errors: [
        'not_found',
        'notifications.invalid_override_combination',
        'notifications.invalid_label_routing_combination',
      ],
      refine: ({ caller, body, refused }) =>
        refused && !refused.has('mode') ? routingIssues(findUnknown, caller.organizationId, body, []) : [],
      handle: async ({ caller: { organizationId }, params, body }) => {
        if (!(await writeRouting(organizationId, params.campaign_id, routingOf(body)))) throw notFound('campaign');
        return noContent();
      },
    }),
  ];
}
