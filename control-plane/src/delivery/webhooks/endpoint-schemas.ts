import { EVENT_KINDS } from '@adsweep/shared/events/event-kinds.ts';
import { DistinctList } from '@adsweep/shared/validation/distinct-list.ts';
import { Type } from 'typebox';
import { moment, orNull } from '../../http/route.ts';
import type { EndpointRecord } from './endpoint.ts';
import { successRate } from './health.ts';

const CAMPAIGNS_MAX = 100;
const URL_CHARACTERS_MAX = 2048;
const DESCRIPTION_CHARACTERS_MAX = 256;

const Url = Type.String({
  minLength: 1,
  maxLength: URL_CHARACTERS_MAX,
  description: 'https, of a public server. Events are sent there by POST.',
});
const Description = Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX });
const EventTypes = DistinctList(Type.Enum(EVENT_KINDS), {
  maxItems: EVENT_KINDS.length,
  description: 'Empty: all kinds.',
});
/**
 * `minItems` 1: a list from which a client has taken the last campaign must not have the events of all campaigns sent.
 */
const campaignIds = (minItems: 0 | 1, description: string) =>
  orNull(DistinctList(Type.String({ maxLength: 36 }), { minItems, maxItems: CAMPAIGNS_MAX, description }));

export const WebhookInSchema = Type.Object(
  {
    url: Url,
    description: Type.Optional(Description),
    event_types: Type.Optional(EventTypes),
    campaign_ids: Type.Optional(
      campaignIds(0, 'Events of scans of these campaigns alone. Empty or null: of all scans.'),
    ),
  },
  {
    additionalProperties: false,
    title: 'WebhookIn',
    examples: [{ url: 'https://hooks.example.com/adsweep', event_types: ['scanning.tags.detected'] }],
  },
);

export const WebhookPatchSchema = Type.Object(
  {
    url: Type.Optional(orNull(Url)),
    description: Type.Optional(orNull(Description)),
    event_types: Type.Optional(orNull(EventTypes)),
    campaign_ids: Type.Optional(
      campaignIds(1, 'Events of scans of these campaigns alone. null: as before; see `clear_campaign_ids`.'),
    ),
    clear_campaign_ids: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Lifts the restriction to campaigns. Not together with `campaign_ids`.',
      }),
    ),
    is_active: Type.Optional(
      orNull(
        Type.Boolean({ description: 'false: pauses it; true: starts it anew, with the events of the last 24 hours.' }),
      ),
    ),
  },
  { additionalProperties: false, title: 'WebhookPatch' },
);

export const RotateSecretSchema = Type.Object(
  {
    overlap_hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 72,
        description: 'For how long the earlier secret signs too. Omitted: every earlier secret ends at once.',
      }),
    ),
  },
  { additionalProperties: false, title: 'RotateSecretIn' },
);

const failing = {
  failing_since: orNull(moment('The first failure since the last 2xx; null: it does not fail.')),
  paused_until: orNull(moment('While it fails: when the next delivery is tried.')),
};

export const WebhookSchema = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    description: Type.String(),
    event_types: Type.Array(Type.Enum(EVENT_KINDS)),
    campaign_ids: orNull(Type.Array(Type.String())),
    is_active: Type.Boolean(),
    disabled_reason: orNull(Type.Enum(['paused', 'failing'])),
    disabled_reason_detail: orNull(Type.String()),
    disabled_at: orNull(moment()),
    ...failing,
    health: Type.Object(
      {
        consecutive_failures: Type.Integer(),
        last_delivery_at: orNull(moment('When a delivery was last tried.')),
        last_delivery_status: orNull(Type.Integer({ description: 'null: no answer came.' })),
        success_rate_7d: Type.Number({ description: '0 to 1, in calendar days (UTC); 1 where nothing was tried.' }),
        ...failing,
      },
      { title: 'WebhookHealth' },
    ),
    created_at: moment(),
    updated_at: moment(),
  },
  { title: 'Webhook' },
);

export const WebhookCreatedSchema = Type.Object(
  {
    webhook: WebhookSchema,
    secret: Type.String({
      description: 'Signs the deliveries (Standard Webhooks). It is shown only in this response.',
    }),
  },
  { title: 'WebhookCreated' },
);

const timeOf = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;

/** An endpoint as clients see it: without its secrets. */
export function presentEndpoint(record: EndpointRecord, now: Date) {
  const { _id, url, description, event_types, campaign_ids, is_active, disabled, health } = record;
  const outage = { failing_since: timeOf(health.failing_since), paused_until: timeOf(health.paused_until) };
  return {
    id: _id,
    url,
    description,
    event_types,
    campaign_ids,
    is_active,
    disabled_reason: disabled?.reason ?? null,
    disabled_reason_detail: disabled?.detail ?? null,
    disabled_at: timeOf(disabled?.at),
    ...outage,
    health: {
      consecutive_failures: health.consecutive_failures,
      last_delivery_at: timeOf(health.last?.at),
      last_delivery_status: health.last?.status ?? null,
      success_rate_7d: successRate(health, now),
      ...outage,
    },
    created_at: record.created_at.toISOString(),
    updated_at: record.updated_at.toISOString(),
  };
}
