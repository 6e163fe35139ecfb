import type { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { EVENT_KINDS } from '@adsweep/shared/events/event-kinds.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { auditEntry, type ResourceRequest, resource } from '../../http/resource-routes.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { changeEndpoint, type EndpointPatch, newWebhookSecret, patched, rotated } from './change-endpoint.ts';
import { type EndpointRecord, newEndpoint, secretContext } from './endpoint.ts';
import {
  presentEndpoint,
  RotateSecretSchema,
  WebhookCreatedSchema,
  WebhookInSchema,
  WebhookPatchSchema,
  WebhookSchema,
} from './endpoint-schemas.ts';
import type { EndpointStore } from './endpoint-store.ts';
import { EVENT_TYPES } from './event-types.ts';

export type EndpointParts = {
  endpoints: EndpointStore;
  egress: EgressPolicy;
  secrets: Secrets;
  hasCampaign: (organizationId: string, id: string) => Promise<boolean>;
  /** Called when an outbox was filled, or an endpoint became due. */
  changed: () => void;
};

export const WEBHOOKS = { group: 'Webhooks', path: '/api/v1/webhooks' };
const noun = 'webhook endpoint';
export const EndpointParams = Type.Object({ endpoint_id: Type.String({ description: 'The endpoint.' }) });

const EventTypeSchema = Type.Object(
  {
    event_type: Type.Enum(EVENT_KINDS),
    description: Type.String(),
    sample_payload: Type.Object({}, { additionalProperties: true, description: 'The body of a delivery.' }),
    schema: Type.Object({}, { additionalProperties: true, description: 'JSON schema of the body.' }),
  },
  { title: 'EventKind' },
);

const CATALOGUE = {
  entries: EVENT_TYPES.map(({ kind, description, sample, schema }) => ({
    event_type: kind,
    description,
    sample_payload: sample,
    schema,
  })),
};

/** The kinds of events. */
const eventTypesRoute = (): Route<Caller> =>
  route({
    method: 'GET',
    path: `${WEBHOOKS.path}/event-types`,
    group: WEBHOOKS.group,
    permission: 'any',
    summary: 'Kinds of events',
    description: 'The kinds that endpoints can subscribe to. Versions may add kinds and fields.',
    replies: {
      200: {
        description: 'The kinds, each with a sample.',
        schema: Type.Object({ entries: Type.Array(EventTypeSchema) }, { title: 'EventCatalog' }),
      },
    },
    handle: () => ok(CATALOGUE),
  });

type Shown = { record: EndpointRecord; secret: string };

/** The endpoints of an organization. */
export function endpointRoutes(parts: EndpointParts): Route<Caller>[] {
  const { endpoints, secrets, changed } = parts;
  const all = resource<EndpointRecord>({
    ...WEBHOOKS,
    id: { name: 'endpoint_id', description: 'The endpoint.' },
    noun,
    permission: 'webhooks.manage',
    schema: WebhookSchema,
    presenter: () => (record) => presentEndpoint(record, new Date()),
    written: changed,
  });
  return [
    eventTypesRoute(),
    all.list({
      summary: 'List webhook endpoints',
      reply: 'The endpoints of the organization, oldest first.',
      rows: ({ organizationId }) => endpoints.listOf(organizationId),
    }),
    all.create({
      summary: 'Create a webhook endpoint',
      description:
        'Where events are sent, signed by [Standard Webhooks](https://www.standardwebhooks.com). What is not answered with 2xx is tried again for 24 hours.',
      reply: 'The endpoint with its secret.',
      body: WebhookInSchema,
      schema: WebhookCreatedSchema,
      presenter: () => presentShown,
      answersSecret: true,
      errors: ['webhooks.too_many'],
      refine: async ({ caller, body }) => [
        ...urlIssues(parts, body.url),
        ...(await campaignIssues(parts, caller, body.campaign_ids)),
      ],
      create: async ({ organizationId, id, body, now, audit }) => {
        const secret = newWebhookSecret();
        const sealed = secrets.seal(secret, secretContext(id));
        const { url, description = '', event_types = [] } = body;
        const settings = { url, description, event_types, campaign_ids: campaignsOf(body.campaign_ids) };
        const identity = { _id: id, organization_id: organizationId, secret: sealed };
        const created = audit('webhook.created', id, settings);
        const record = await endpoints.insertWithin(newEndpoint(identity, settings, now), [created]);
        return { record, secret: secrets.open(record.secret, secretContext(id)) };
      },
    }),
    all.read({
      summary: 'Read a webhook endpoint',
      reply: 'The endpoint.',
      find: ({ organizationId, id }) => endpoints.find(organizationId, id),
    }),
    all.change({
      summary: 'Change a webhook endpoint',
      description:
        'Fields that are omitted or null keep their values. New filters hold for what is not yet sent. `is_active` true, or another URL, starts it anew: what is younger than 24 hours is sent.',
      reply: 'The changed endpoint.',
      body: WebhookPatchSchema,
      refine: async ({ caller, body }) => [
        ...urlIssues(parts, body.url),
        ...(await campaignIssues(parts, caller, body.campaign_ids)),
        ...clearingIssues(body),
      ],
      change: ({ organizationId, id, body, now, audit }) => {
        const patch = patchOf(body);
        const follows = [audit('webhook.changed', id, patch)];
        return changeEndpoint(endpoints, [organizationId, id], (was) => patched(was, patch, now), follows);
      },
    }),
    all.command({
      method: 'DELETE',
      summary: 'Delete a webhook endpoint',
      description: 'Nothing is sent to it any more, and its deliveries cannot be read.',
      reply: 'The endpoint is deleted.',
      run: ({ organizationId, id, audit }) => endpoints.delete(organizationId, id, audit('webhook.deleted', id, {})),
    }),
    rotateRoute(parts),
  ];
}

/** A new secret for an endpoint. */
function rotateRoute({ endpoints, secrets, changed }: EndpointParts): Route<Caller> {
  return route({
    method: 'POST',
    path: `${WEBHOOKS.path}/{endpoint_id}/rotate-secret`,
    group: WEBHOOKS.group,
    summary: 'Rotate the secret of an endpoint',
    description:
      'The new secret signs at once. With `overlap_hours` the earlier one signs too until then; without, every earlier secret ends at once.',
    permission: 'webhooks.manage',
    params: EndpointParams,
    body: RotateSecretSchema,
    bodyIsOptional: true,
    answersSecret: true,
    runsOnce: () => true,
    replies: { 200: { description: 'The endpoint with its new secret.', schema: WebhookCreatedSchema } },
    errors: ['not_found'],
    handle: async ({ caller, params: { endpoint_id: id }, body: { overlap_hours = null } }) => {
      const [now, secret] = [new Date(), newWebhookSecret()];
      const sealed = secrets.seal(secret, secretContext(id));
      const change = (was: EndpointRecord) => rotated(was, sealed, overlap_hours, now);
      const follows = [auditEntry(caller, now, 'webhook.rotated', id, { overlap_hours })];
      const record = await changeEndpoint(endpoints, [caller.organizationId, id], change, follows);
      if (!record) throw notFound(noun);
      changed();
      return ok(presentShown({ record, secret }));
    },
  });
}

const presentShown = ({ record, secret }: Shown) => ({ webhook: presentEndpoint(record, new Date()), secret });

/** No campaigns and null both mean all. */
const campaignsOf = (ids: string[] | null | undefined): string[] | null => (ids && ids.length > 0 ? ids : null);

function patchOf(body: ResourceRequest<unknown, PatchBody>['body']): EndpointPatch {
  const { url, description, event_types, campaign_ids, clear_campaign_ids, is_active } = body;
  return {
    ...(typeof url === 'string' && { url }),
    ...(typeof description === 'string' && { description }),
    ...(event_types && { event_types }),
    ...(campaign_ids && { campaign_ids }),
    ...(clear_campaign_ids && { campaign_ids: null }),
    ...(typeof is_active === 'boolean' && { is_active }),
  };
}

type PatchBody = {
  [K in keyof EndpointPatch]?: EndpointPatch[K] | null;
} & { clear_campaign_ids?: boolean };

const URL_REFUSALS = {
  not_a_url: 'Must be an http or https URL without a user name or password.',
  not_https: 'Must be an https URL.',
  blocked_address: 'Must be the URL of a public server.',
};

function urlIssues({ egress }: EndpointParts, url: string | null | undefined): Issue[] {
  const refusal = typeof url === 'string' ? egress.refusalOf(url) : null;
  return refusal ? [{ loc: ['body', 'url'], msg: URL_REFUSALS[refusal], type: refusal, ctx: given(url) }] : [];
}

/** Campaigns that the organization does not have. */
async function campaignIssues(
  { hasCampaign }: EndpointParts,
  { organizationId }: Caller,
  ids: string[] | null | undefined,
): Promise<Issue[]> {
  const known = await Promise.all((ids ?? []).map((id) => hasCampaign(organizationId, id)));
  return (ids ?? []).flatMap((id, at): Issue[] => {
    if (known[at]) return [];
    return [
      { loc: ['body', 'campaign_ids', at], msg: 'There is no such campaign.', type: 'not_found', ctx: given(id) },
    ];
  });
}

function clearingIssues({ campaign_ids, clear_campaign_ids }: PatchBody): Issue[] {
  if (!clear_campaign_ids || !campaign_ids) return [];
  const msg = 'Must not be sent together with campaign_ids.';
  return [{ loc: ['body', 'clear_campaign_ids'], msg, type: 'invalid_combination', ctx: given(true) }];
}
