import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import type { Claimable } from '../../platform/claims.ts';
import type { OutboxFields } from '../../platform/outbox/outbox-entry.ts';
import { type Health, healthyFrom } from './health.ts';

/** A URL of a client that receives events. Only the dispatcher that has claimed it may change `health`. */
export type EndpointRecord = OutboxFields &
  Claimable & {
    url: string;
    description: string;
    /** Empty: all kinds. */
    event_types: EventKind[];
    /** null: events of all scans. With campaigns, events of scans without one are left out. */
    campaign_ids: string[] | null;
    /** The secret that signs, encrypted. */
    secret: string;
    /** Secrets that sign too, until they end. */
    earlier_secrets: { secret: string; until: Date }[];
    /** Why, in words, and since when it is not active; null: it is. */
    disabled: { reason: 'paused' | 'failing'; detail: string; at: Date } | null;
    health: Health;
    /** Grows when the endpoint starts anew: results of deliveries that began before do not change its health. */
    epoch: number;
    /** Grows with every change by a client, and when it is switched off. */
    revision: number;
    /** A mail about its outage that is to be sent. */
    warning?: Warning;
    created_at: Date;
    updated_at: Date;
    /** It is kept for the audit log alone. */
    deleted_at?: Date;
  };

/** A mail about an outage, as it was at `at`. `tries`: begun so far. */
export type Warning = {
  about: 'failing' | 'switched_off';
  at: Date;
  failing_since: Date;
  last_status: number | null;
  tries: number;
  due_at: Date;
};

/** What clients can set. */
export type EndpointSettings = Pick<EndpointRecord, 'url' | 'description' | 'event_types' | 'campaign_ids'>;

/** A new endpoint. */
export const newEndpoint = (
  identity: Pick<EndpointRecord, '_id' | 'organization_id' | 'secret'>,
  settings: EndpointSettings,
  now: Date,
): Omit<EndpointRecord, keyof OutboxFields> => ({
  ...identity,
  ...settings,
  earlier_secrets: [],
  is_active: true,
  disabled: null,
  health: healthyFrom([]),
  epoch: 0,
  revision: 0,
  arrivals: 0,
  fence: 0,
  created_at: now,
  updated_at: now,
});

/** Whether an endpoint's filters let an event through. */
export const wantsEvent = (
  { event_types, campaign_ids }: Pick<EndpointRecord, 'event_types' | 'campaign_ids'>,
  { kind, campaign_id }: { kind: EventKind; campaign_id: string | null },
): boolean =>
  (event_types.length === 0 || event_types.includes(kind)) &&
  (campaign_ids === null || (campaign_id !== null && campaign_ids.includes(campaign_id)));

/** The encrypted secrets that sign at `now`, the newest first. */
export const signingSecrets = ({ secret, earlier_secrets }: EndpointRecord, now: Date): string[] => [
  secret,
  ...earlier_secrets.filter(({ until }) => until > now).map((earlier) => earlier.secret),
];

/** What a stored secret of an endpoint is bound to. */
export const secretContext = (endpointId: string): string => `webhook ${endpointId}`;
