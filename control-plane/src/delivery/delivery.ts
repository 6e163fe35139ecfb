import { guardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { AccountsDomain } from '../accounts/accounts.ts';
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
import { type DeliveryRouteParts, deliveryRoutes } from './webhooks/delivery-routes.ts';
import { deliveryStore } from './webhooks/delivery-store.ts';
import { type DispatchParts, startDispatchingEvents } from './webhooks/dispatch-events.ts';
import { type EndpointParts, endpointRoutes } from './webhooks/endpoint-routes.ts';
import { endpointStore } from './webhooks/endpoint-store.ts';
import { eventRoutes } from './webhooks/event-routes.ts';
import { startMeasuringWebhooks } from './webhooks/measure-webhooks.ts';
import { queueDeliveries } from './webhooks/queue-deliveries.ts';
import { startMailingWarnings, type WarningParts } from './webhooks/warn-users.ts';

/**
 * The outboxes of all other domains' records, and how their kinds of entries are carried out, and what alerts and
 * webhooks ask of others.
 */
export type DeliveryNeeds = NotificationsNeeds &
  Pick<AlertParts, 'readTags' | 'policySetNames'> &
  Pick<CampaignsDomain['verbs'], 'findCampaign'> &
  Pick<AccountsDomain['verbs'], 'contactEmailsOf' | 'storedPerDay'> & {
    sources: OutboxSource[];
    handlers: Omit<OutboxHandlers, 'event' | 'alerts' | 'alert.changed'>;
  };

export type DeliverySettings = NotificationsSettings;

export type DeliveryDomain = ReturnType<typeof deliveryDomain>;

/**
 * Records events, keeps webhook endpoints, raises alerts and notifies people of them, and carries out the outbox
 * entries of all domains.
 */
export function deliveryDomain(
  platform: Platform,
  { sources, handlers, ...needs }: DeliveryNeeds,
  settings: DeliverySettings,
) {
  const { store, secrets, wake, mailer, metrics, logger } = platform;
  const deliveries = deliveryStore(store);
  const [events, endpoints, alerts] = [eventStore(store), endpointStore(store), alertStore(store)];
  /** What sends to clients' servers, of webhooks and notifications alike. */
  const { post, close } = guardedPost(settings.egress);
  const closing = { stop: async () => close() };
  const notified = notifications({ ...platform, post }, needs, alerts, settings);
  const outboxFilled = () => wake.announce('outbox');
  const queued = () => wake.announce('deliveries');
  /** What follows the changes of alerts. */
  const followers: AlertFollower[] = [notified.follower];
  const outboxHandlers = {
    event: async (entry, origin) => {
      const event = await recordEvent(events, entry, origin);
      await queueDeliveries({ endpoints, deliveries, queued }, event);
    },
    ...alertHandlers(alerts, followers, outboxFilled),
  } satisfies Partial<OutboxHandlers>;
  const dependencies: RelayDependencies = {
    sources: [...sources, alerts.outbox, endpoints.outbox],
    handlers: { ...handlers, ...outboxHandlers },
    metrics,
    logger,
  };
  /** Each scan fills its outbox several times, the others rarely: they are not looked at each time. */
  const [ofScans, ofOthers] = [true, false].map((isOfScans) => ({
    ...dependencies,
    sources: dependencies.sources.filter(({ name }) => (name === 'scans') === isOfScans),
  })) as [RelayDependencies, RelayDependencies];
  const endpointParts: EndpointParts = {
    endpoints,
    egress: settings.egress,
    secrets,
    hasCampaign: async (organizationId, id) => (await needs.findCampaign(organizationId, id, null)).hasCampaign,
    changed: () => {
      outboxFilled();
      queued();
    },
  };
  const sending: DispatchParts = {
    endpoints,
    deliveries,
    events,
    secrets,
    readTags: needs.readTags,
    post,
    metrics,
    logger,
  };
  const warning: WarningParts = { endpoints, mailer, contactEmailsOf: needs.contactEmailsOf, logger };
  const deliveryParts: DeliveryRouteParts = { endpoints, deliveries, events, secrets, post, logger, queued };
  return {
    stores: { events, endpoints, deliveries, alerts, ...notified.stores },
    routes: {
      api: [
        ...alertRoutes({ ...needs, alerts, outboxFilled }),
        ...eventRoutes({ events, endpoints, deliveries, readTags: needs.readTags }),
        ...endpointRoutes(endpointParts),
        ...deliveryRoutes(deliveryParts),
        ...notified.routes,
      ],
    },
    loops: {
      api: () => [closing],
      relay: () => [
        startRelay(ofScans, wake.signal('scan-outbox')),
        startRelay(ofOthers, wake.signal('outbox')),
        startMeasuringOutboxes(dependencies),
      ],
      dispatcher: () => [
        ...notified.loops.dispatcher(),
        startDispatchingEvents(sending, wake.signal('deliveries')),
        startMailingWarnings(warning),
        startMeasuringWebhooks({ endpoints, deliveries, metrics, logger }),
        closing,
      ],
    },
    outboxHandlers,
    verbs: notified.verbs,
    dependencies: { ...dependencies, dispatching: notified.dispatching, sending },
  } satisfies Domain;
}
