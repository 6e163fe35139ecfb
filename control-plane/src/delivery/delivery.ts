import type { Domain } from '../domain.ts';
import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { OutboxSource } from '../platform/outbox/outbox-source.ts';
import type { Platform } from '../platform/platform.ts';
import { alertStore } from './alerts/alert-store.ts';
import { type AlertFollower, alertHandlers } from './alerts/raise-alerts.ts';
import { eventStore } from './events/event-store.ts';
import { recordEvent } from './events/record-event.ts';
import { type NotificationsNeeds, type NotificationsSettings, notifications } from './notifications/notifications.ts';
import { type RelayDependencies, startMeasuringOutboxes, startRelay } from './outbox/relay.ts';

/** The outboxes of all other domains' records, and how their kinds of entries are carried out. */
export type DeliveryNeeds = NotificationsNeeds & {
  sources: OutboxSource[];
  handlers: Omit<OutboxHandlers, 'event' | 'alerts' | 'alert.changed'>;
};

export type DeliverySettings = NotificationsSettings;

export type DeliveryDomain = ReturnType<typeof deliveryDomain>;

/** Records events, raises alerts and tells people of them, and carries out the outbox entries of all domains. */
export function deliveryDomain(
  platform: Platform,
  { sources, handlers, ...needs }: DeliveryNeeds,
  settings: DeliverySettings,
) {
  const { store, wake, metrics, logger } = platform;
  const [events, alerts] = [eventStore(store), alertStore(store)];
  const notified = notifications(platform, needs, alerts, settings);
  /** What follows the changes of alerts. */
  const followers: AlertFollower[] = [notified.follower];
  const outboxHandlers = {
    event: (entry, origin) => recordEvent(events, entry, origin),
    ...alertHandlers(alerts, followers, () => wake.announce('outbox')),
  } satisfies Partial<OutboxHandlers>;
  const dependencies: RelayDependencies = {
    sources: [...sources, alerts.outbox],
    handlers: { ...handlers, ...outboxHandlers },
    metrics,
    logger,
  };
  return {
    stores: { events, alerts, ...notified.stores },
    routes: { api: notified.routes },
    loops: {
      relay: () => [startRelay(dependencies, wake.signal('outbox')), startMeasuringOutboxes(dependencies)],
      ...notified.loops,
    },
    outboxHandlers,
    verbs: notified.verbs,
    dependencies: { ...dependencies, dispatching: notified.dispatching },
  } satisfies Domain;
}
