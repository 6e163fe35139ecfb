import { type Static, type TSchema, Type } from 'typebox';
import { moment, orNull } from '../../http/route.ts';
import { ALERT_STATUSES } from '../../platform/outbox/outbox-entry.ts';
import { ROUTING_MODES } from '../../scanning/campaigns/alert-routing.ts';
import { LABEL_KEY } from '../../scanning/scans/request/label-key.ts';
import { CHANNELS, VERSIONS } from './destination.ts';

const LABELS_MAX = 20;
const VALUES_MAX = 100;

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const LabelKey = Type.String({ pattern: LABEL_KEY.source });
const object = { additionalProperties: false };

const SlackUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'The incoming webhook of Slack, Mattermost or another service; https. Never returned.',
});
const BotToken = Type.String({
  pattern: '^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$',
  description: 'The token of your bot. Never returned.',
});
const ChatId = Type.Integer({ description: 'The chat that the bot writes to.' });
const Email = Type.Object(
  {
    address: Type.String({
      maxLength: 254,
      pattern: '^[^\\s@<>,;:"()\\\\\\[\\]]{1,64}@[A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63})+$',
    }),
  },
  object,
);

const settings = {
  version: optional(
    Type.Enum([...VERSIONS], { description: 'Links lead to the `public` report (default), or to the `internal` one.' }),
  ),
  is_default_target: optional(
    Type.Boolean({ description: 'It gets the alerts of campaigns that inherit. Default true.' }),
  ),
  included_label_keys: optional(
    Type.Array(LabelKey, { maxItems: LABELS_MAX, description: 'Labels of the scan that each line shows.' }),
  ),
  included_statuses: optional(
    Type.Array(Type.Enum([...ALERT_STATUSES]), {
      maxItems: ALERT_STATUSES.length,
      description: 'Messages are sent when an alert gets one of these statuses. Default `["open"]`.',
    }),
  ),
  route_label_key: optional(orNull(LabelKey)),
  route_label_values: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: VALUES_MAX,
      description: 'Only with `route_label_key`.',
    }),
  ),
};
const Name = Type.String({ maxLength: 200, pattern: '\\S' });

/** Body of `POST /alert-notifications/destinations`. */
export const DestinationInSchema = Type.Object(
  {
    name: Name,
    channel: Type.Enum([...CHANNELS]),
    slack: optional(Type.Object({ webhook_url: SlackUrl }, object)),
    telegram: optional(Type.Object({ bot_token: BotToken, chat_id: ChatId }, object)),
    email: optional(Email),
    ...settings,
  },
  {
    additionalProperties: false,
    title: 'DestinationIn',
    examples: [{ name: 'Ops', channel: 'slack', slack: { webhook_url: 'https://hooks.slack.com/services/T0/B0/x' } }],
  },
);
export type DestinationIn = Static<typeof DestinationInSchema>;

/** Body of `PATCH .../{destination_id}`; omitted fields keep their values. */
export const DestinationPatchSchema = Type.Object(
  {
    name: optional(Name),
    slack: optional(Type.Object({ webhook_url: SlackUrl }, object)),
    telegram: optional(
      Type.Object({ bot_token: optional(BotToken), chat_id: optional(ChatId) }, { ...object, minProperties: 1 }),
    ),
    email: optional(Email),
    is_active: optional(
      Type.Boolean({ description: 'false pauses it; true starts it anew, and sends what waits for less than a day.' }),
    ),
    ...settings,
  },
  { additionalProperties: false, title: 'DestinationPatch' },
);
export type DestinationPatch = Static<typeof DestinationPatchSchema>;

export const VersionInSchema = Type.Object(
  { version: Type.Enum([...VERSIONS]) },
  { additionalProperties: false, title: 'DestinationVersionIn' },
);

const text = (description?: string) => orNull(Type.String(description ? { description } : {}));

export const DestinationSchema = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    channel: Type.Enum([...CHANNELS]),
    name: Type.String(),
    is_active: Type.Boolean(),
    disabled_reason: orNull(Type.Enum(['paused', 'failing'], { description: 'Why it is not active.' })),
    is_default_target: Type.Boolean(),
    version: Type.Enum([...VERSIONS]),
    consecutive_failures: Type.Integer(),
    last_delivery_at: orNull(moment()),
    last_delivery_status: orNull(Type.Integer({ description: 'HTTP or SMTP status; null: no answer came.' })),
    last_delivery_error: text('Why the last message failed; null: it did not.'),
    failing_since: orNull(moment('The first failure since the last success.')),
    paused_until: orNull(moment('While it fails: when the next message is tried.')),
    slack_workspace_id: text(),
    slack_channel_id: text(),
    slack_channel_name: text(),
    telegram_chat_id: orNull(Type.Integer()),
    telegram_chat_title: text(),
    telegram_chat_type: text(),
    email_address: text(),
    included_label_keys: Type.Array(Type.String()),
    included_statuses: Type.Array(Type.String()),
    route_label_key: text(),
    route_label_values: Type.Array(Type.String()),
    created_at: moment(),
    updated_at: moment(),
  },
  { title: 'Destination' },
);

export const DestinationTestSchema = Type.Object(
  {
    success: Type.Boolean(),
    status: orNull(Type.Integer({ description: 'HTTP or SMTP status; null: no answer came.' })),
    error: text('Why it failed.'),
  },
  { title: 'DestinationTest' },
);

export const OverridesSchema = Type.Object(
  {
    campaign_id: Type.String(),
    mode: Type.Enum([...ROUTING_MODES]),
    destination_ids: Type.Array(Type.String()),
    routing_label_key: text(),
  },
  { title: 'Overrides' },
);
