import type { Claimable } from '../../platform/claims.ts';
import type { AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import { type DestinationHealth, HEALTHY } from './destination-health.ts';

export const CHANNELS = ['slack', 'telegram', 'email'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Which report a message links to: the public one, or that for people with a login. */
export const VERSIONS = ['public', 'internal'] as const;

/** What clients can set, apart from the connection. */
export type DestinationSettings = {
  name: string;
  version: (typeof VERSIONS)[number];
  /** It gets the alerts of campaigns that inherit. */
  is_default_target: boolean;
  /** The labels that each line of a message has. */
  included_label_keys: string[];
  included_statuses: AlertStatus[];
  /** It gets alerts by their label: those whose label `route_label_key` has one of these values. */
  route_label_key: string | null;
  route_label_values: string[];
};

/** How a destination is reached. `secret`: the Slack URL or the token of the Telegram bot, encrypted. */
export type Connection = {
  secret: string | null;
  telegram_chat_id: number | null;
  email_address: string | null;
};

/** Where messages about alerts are sent. Only the dispatcher that has claimed it may change `health`. */
export type DestinationRecord = DestinationSettings &
  Connection &
  Claimable & {
    channel: Channel;
    /** Why it is not active; null: it is. */
    disabled_reason: 'paused' | 'failing' | null;
    health: DestinationHealth;
    created_at: Date;
    updated_at: Date;
  };

/** A new destination. */
export const newDestination = (
  { _id, organization_id, channel }: Pick<DestinationRecord, '_id' | 'organization_id' | 'channel'>,
  settings: DestinationSettings,
  connection: Connection,
  now: Date,
): DestinationRecord => ({
  ...settings,
  ...connection,
  _id,
  organization_id,
  channel,
  is_active: true,
  disabled_reason: null,
  health: HEALTHY,
  arrivals: 0,
  fence: 0,
  created_at: now,
  updated_at: now,
});

/** What the stored secret of a destination is bound to. */
export const secretContext = (destinationId: string): string => `destination ${destinationId}`;
