import type { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { pickFields } from '../../platform/pick-fields.ts';
import type { Secrets } from '../../platform/secrets.ts';
import {
  CHANNELS,
  type Channel,
  type Connection,
  type DestinationRecord,
  type DestinationSettings,
  secretContext,
} from './destination.ts';
import type { DestinationIn, DestinationPatch } from './destination-schemas.ts';

const URL_REFUSALS = {
  not_a_url: 'Must be an https URL without user and password.',
  not_https: 'Must be an https URL.',
  blocked_address: 'Must not be in a private network.',
};

const issue = (loc: (string | number)[], type: string, msg: string, value: unknown): Issue => ({
  loc: ['body', ...loc],
  type,
  msg,
  ctx: given(value),
});

type Sent = Partial<Omit<DestinationIn, 'telegram'>> & Pick<DestinationPatch, 'telegram' | 'is_active'>;
type Checks = { egress: EgressPolicy; hasMailer: boolean; refused: ReadonlySet<string> };

/** The problems of a new destination whose form was checked. */
export function newDestinationIssues(sent: Sent, { egress, hasMailer, refused }: Checks): Issue[] {
  const { channel } = sent;
  const isMissing = channel !== undefined && sent[channel] === undefined && !refused.has(channel);
  return [
    ...connectionIssues(sent, channel, egress),
    ...(isMissing ? [issue([channel], 'missing', `A destination of the channel ${channel} needs it.`, undefined)] : []),
    ...(channel === 'email' && !hasMailer
      ? [issue(['channel'], 'mail_not_configured', 'This service sends no mails: it has no mail server.', channel)]
      : []),
    ...labelIssues(sent.route_label_key ?? null, sent.route_label_values ?? [], refused),
  ];
}

/** The problems of a change, together with what stays. */
export function changeIssues(
  found: DestinationRecord,
  sent: Sent,
  { egress, refused }: Omit<Checks, 'hasMailer'>,
): Issue[] {
  const { route_label_key: key = found.route_label_key, route_label_values: values = found.route_label_values } = sent;
  const isRouting = sent.route_label_key !== undefined || sent.route_label_values !== undefined;
  // Clearing the key clears its values.
  const left = key === null && sent.route_label_values === undefined ? [] : values;
  return [...connectionIssues(sent, found.channel, egress), ...(isRouting ? labelIssues(key, left, refused) : [])];
}

function connectionIssues(sent: Sent, channel: Channel | undefined, egress: EgressPolicy): Issue[] {
  if (channel === undefined) return [];
  const others = CHANNELS.filter((one) => one !== channel && sent[one] !== undefined).map((one) =>
    issue([one], 'invalid_combination', `A destination of the channel ${channel} has none.`, sent[one]),
  );
  const url = channel === 'slack' ? sent.slack?.webhook_url : undefined;
  const refusal = typeof url === 'string' ? egress.refusalOf(url) : null;
  return [...others, ...(refusal ? [issue(['slack', 'webhook_url'], refusal, URL_REFUSALS[refusal], url)] : [])];
}

function labelIssues(key: string | null, values: string[], refused: ReadonlySet<string>): Issue[] {
  if (refused.has('route_label_key') || refused.has('route_label_values')) return [];
  if (key === null && values.length > 0)
    return [issue(['route_label_values'], 'invalid_combination', 'Only with route_label_key.', values)];
  if (key !== null && values.length === 0)
    return [issue(['route_label_values'], 'missing', 'A route_label_key needs values.', values)];
  return [];
}

/** The settings of a new destination, with defaults. */
export const settingsOf = (sent: DestinationIn): DestinationSettings => ({
  name: sent.name.trim(),
  version: sent.version ?? 'public',
  is_default_target: sent.is_default_target ?? true,
  included_label_keys: [...new Set(sent.included_label_keys ?? [])],
  included_statuses: [...new Set(sent.included_statuses ?? (['open'] as const))],
  route_label_key: sent.route_label_key ?? null,
  route_label_values: [...new Set(sent.route_label_values ?? [])],
});

/** How a new destination is reached. */
export const connectionOf = (
  { slack, telegram, email }: DestinationIn,
  id: string,
  secrets: Pick<Secrets, 'seal'>,
): Connection => {
  const secret = slack?.webhook_url ?? telegram?.bot_token;
  return {
    secret: secret === undefined ? null : secrets.seal(secret, secretContext(id)),
    telegram_chat_id: telegram?.chat_id ?? null,
    email_address: email?.address ?? null,
  };
};

/**
 * Whether a change starts a destination anew: it switches it on, or connects it otherwise, unless a client has paused
 * it.
 */
export const startsAnew = (
  { disabled_reason }: Pick<DestinationRecord, 'disabled_reason'>,
  sent: Pick<DestinationPatch, 'is_active' | Channel>,
): boolean => sent.is_active ?? (CHANNELS.some((one) => sent[one] !== undefined) && disabled_reason !== 'paused');

/** The fields that a change writes. */
export function changedFields(
  { slack, telegram, email, is_active, name, ...settings }: DestinationPatch,
  id: string,
  secrets: Pick<Secrets, 'seal'>,
): Partial<DestinationRecord> {
  const secret = slack?.webhook_url ?? telegram?.bot_token;
  const { included_label_keys, included_statuses, route_label_key, route_label_values, ...rest } = settings;
  return {
    ...rest,
    ...(name !== undefined && { name: name.trim() }),
    ...(included_label_keys && { included_label_keys: [...new Set(included_label_keys)] }),
    ...(included_statuses && { included_statuses: [...new Set(included_statuses)] }),
    ...(route_label_values && { route_label_values: [...new Set(route_label_values)] }),
    ...(route_label_key !== undefined && { route_label_key }),
    ...(route_label_key === null && { route_label_values: [] }),
    ...(secret !== undefined && { secret: secrets.seal(secret, secretContext(id)) }),
    ...(telegram?.chat_id !== undefined && { telegram_chat_id: telegram.chat_id }),
    ...(email && { email_address: email.address }),
    ...(is_active !== undefined && { is_active, disabled_reason: is_active ? null : ('paused' as const) }),
  };
}

/** A destination as the API returns it: without its secret. */
export function presentDestination(destination: DestinationRecord) {
  const { health } = destination;
  return {
    id: destination._id,
    ...pickFields(destination, 'organization_id', 'channel', 'name', 'is_active', 'disabled_reason'),
    ...pickFields(destination, 'is_default_target', 'version'),
    consecutive_failures: health.consecutive_failures,
    last_delivery_at: health.last_delivery_at?.toISOString() ?? null,
    last_delivery_status: health.last_delivery_status,
    last_delivery_error: health.last_error,
    failing_since: health.failing_since?.toISOString() ?? null,
    paused_until: health.paused_until?.toISOString() ?? null,
    // Neither an incoming webhook nor a bot's token has these.
    slack_workspace_id: null,
    slack_channel_id: null,
    slack_channel_name: null,
    telegram_chat_id: destination.telegram_chat_id,
    telegram_chat_title: null,
    telegram_chat_type: null,
    ...pickFields(destination, 'email_address', 'included_label_keys', 'included_statuses'),
    ...pickFields(destination, 'route_label_key', 'route_label_values'),
    created_at: destination.created_at.toISOString(),
    updated_at: destination.updated_at.toISOString(),
  };
}
