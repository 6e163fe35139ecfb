import type { Domain } from '../domain.ts';
import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { OutboxSource } from '../platform/outbox/outbox-source.ts';
import type { Platform } from '../platform/platform.ts';
import type { CampaignsDomain } from '../scanning/campaigns.ts';
import { alertStore } from './alerts/alert-store.ts';
import { type AlertFollower, alertHandlers } from './alerts/raise-alerts.ts';
import { type AlertParts, alertRoutes } from './alerts/routes.ts';
import { eventStore } from './events/event-store.ts';
import { recordEvent } from './events/record-event.ts';
import { type NotificationsNeeds, type NotificationsSettings, notifications } from './notifications/notifications.ts';
import { type RelayDependencies, startMeasuringOutboxes, startRelay } from './outbox/relay.ts';
import { type EndpointParts, endpointRoutes } from './webhooks/endpoint-routes.ts';
import { endpointStore } from './webhooks/endpoint-store.ts';
import { startMeasuringEndpoints } from './webhooks/measure-endpoints.ts';

/** The outboxes of all other domains' records, and how their kinds of entries are carried out, and what alerts and webhooks ask of others. */
export type DeliveryNeeds = NotificationsNeeds &
  Pick<AlertParts, 'readTags' | 'policySetNames'> &
  Pick<CampaignsDomain['verbs'], 'findCampaign'> & {
    sources: OutboxSource[];
    handlers: Omit<OutboxHandlers, 'event' | 'alerts' | 'alert.changed'>;
  };

export type DeliverySettings = NotificationsSettings;

export type DeliveryDomain = ReturnType<typeof deliveryDomain>;

/** Records events, keeps webhook endpoints, raises alerts and tells people of them, and carries out the outbox entries of all domains. */
export function deliveryDomain(
  platform: Platform,
  { sources, handlers, ...needs }: DeliveryNeeds,
  settings: DeliverySettings,
) {
  const { store, secrets, wake, metrics, logger } = platform;
  const [events, endpoints, alerts] = [eventStore(store), endpointStore(store), alertStore(store)];
  const notified = notifications(platform, needs, alerts, settings);
  const outboxFilled = () => wake.announce('outbox');
  /** What follows the changes of alerts. */
  const followers: AlertFollower[] = [notified.follower];
  const outboxHandlers = {
    event: (entry, origin) => recordEvent(events, entry, origin),
    ...alertHandlers(alerts, followers, outboxFilled),
  } satisfies Partial<OutboxHandlers>;
  const dependencies: RelayDependencies = {
    ...{
      sources: [...sources, alerts.outbox, endpoints.outbox],
      handlers: { ...handlers, ...outboxHandlers },
      metrics,
      logger,
    },
  };
  const endpointParts: EndpointParts = {
    ...{ endpoints, egress: settings.egress, secrets },
    hasCampaign: async (organizationId, id) => (await needs.findCampaign(organizationId, id, null)).hasCampaign,
    changed: () => {
      wake.announce('outbox');
      wake.announce('deliveries');
    },
  };
  return {
    stores: { events, endpoints, alerts, ...notified.stores },
    routes: {
      api: [...alertRoutes({ ...needs, alerts, outboxFilled }), ...endpointRoutes(endpointParts), ...notified.routes],
    },
    loops: {
      api: notified.loops.api,
      relay: () => [startRelay(dependencies, wake.signal('outbox')), startMeasuringOutboxes(dependencies)],
      dispatcher: () => [...notified.loops.dispatcher(), startMeasuringEndpoints({ endpoints, metrics, logger })],
    },
    outboxHandlers,
    verbs: notified.verbs,
    dependencies: { ...dependencies, dispatching: notified.dispatching },
  } satisfies Domain;
}
