import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import type { EventRecord } from '../events/event-store.ts';
import { type EndpointRecord, wantsEvent } from './endpoint.ts';
import { WINDOW_MS } from './health.ts';

/**
 * What became of an event for an endpoint. `waiting`: it is sent, or tried again; `expired`: it was not taken within 24
 * hours; `dropped`: the endpoint does not want it any more, or nothing of it is left.
 */
export const DELIVERY_STATES = ['waiting', 'delivered', 'expired', 'dropped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event for an endpoint. There is one for each pair, whose id follows from both. */
export type DeliveryRecord = {
  _id: string;
  organization_id: string;
  endpoint_id: string;
  event_id: string;
  kind: EventKind;
  scan_id: string;
  campaign_id: string | null;
  /** Orders the events of one scan. */
  sequence: number;
  occurred_at: Date;
  /** When its 24 hours began: when the event occurred, or when it was replayed. */
  window_from: Date;
  state: DeliveryState;
  attempts: number;
};

/** A try. `status`, `body`: of the answer, at most 2 KB of it; null: none came, and `error_code` and `body` say why. */
export type Attempt = {
  at: Date;
  duration_ms: number;
  status: number | null;
  body: string;
  error_code: string | null;
};

/** A try of a delivery, as the log has it. `number`: from 1. */
export type AttemptRecord = Attempt &
  Pick<DeliveryRecord, 'organization_id' | 'endpoint_id' | 'event_id' | 'kind'> & {
    _id: string;
    delivery_id: string;
    number: number;
    succeeded: boolean;
  };

export const deliveryIdOf = (eventId: string, endpointId: string): string => `${eventId}:${endpointId}`;

/**
 * The deliveries of an event to those of an organization's endpoints that want it, paused ones too: the window of the
 * event runs on for them.
 */
export function deliveriesOf(event: EventRecord, endpoints: EndpointRecord[]): DeliveryRecord[] {
  const { _id: event_id, organization_id, scan_id, campaign_id, sequence, kind, occurred_at } = event;
  return endpoints
    .filter((endpoint) => wantsEvent(endpoint, event))
    .map(({ _id: endpoint_id }) => ({
      _id: deliveryIdOf(event_id, endpoint_id),
      organization_id,
      endpoint_id,
      event_id,
      kind,
      scan_id,
      campaign_id,
      sequence,
      occurred_at,
      window_from: occurred_at,
      state: 'waiting',
      attempts: 0,
    }));
}

/** When a delivery is tried no more (spec 6). */
export const windowEndsAt = ({ window_from }: Pick<DeliveryRecord, 'window_from'>): Date =>
  new Date(window_from.getTime() + WINDOW_MS);

/**
 * What became of a delivery. One whose window is over waits no more, although nothing ends it while its endpoint is
 * paused or switched off.
 */
export const stateAt = (delivery: Pick<DeliveryRecord, 'state' | 'window_from'>, now: Date): DeliveryState =>
  delivery.state === 'waiting' && windowEndsAt(delivery) <= now ? 'expired' : delivery.state;

/** Waiting deliveries, oldest first, by their scans: the events of a scan are sent in their order. Pure. */
export function byScan(waiting: DeliveryRecord[]): DeliveryRecord[][] {
  const scans = new Map<string, DeliveryRecord[]>();
  for (const delivery of waiting) scans.set(delivery.scan_id, [...(scans.get(delivery.scan_id) ?? []), delivery]);
  return [...scans.values()];
}
