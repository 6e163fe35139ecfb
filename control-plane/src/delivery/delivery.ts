import type { Domain } from '../domain.ts';
import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { OutboxSource } from '../platform/outbox/outbox-source.ts';
import type { Platform } from '../platform/platform.ts';
import { alertStore } from './alerts/alert-store.ts';
import { type AlertFollower, alertHandlers } from './alerts/raise-alerts.ts';
import { eventStore } from './events/event-store.ts';
import { recordEvent } from './events/record-event.ts';
import { type RelayDependencies, startMeasuringOutboxes, startRelay } from './outbox/relay.ts';

/** The outboxes of all other domains' records, and how their kinds of entries are carried out. */
export type DeliveryNeeds = {
  sources: OutboxSource[];
  handlers: Omit<OutboxHandlers, 'event' | 'alerts' | 'alert.changed'>;
};

/** Records events, raises alerts, and carries out the outbox entries of all domains. */
export function deliveryDomain({ store, wake, metrics, logger }: Platform, { sources, handlers }: DeliveryNeeds) {
  const [events, alerts] = [eventStore(store), alertStore(store)];
  /** What follows the changes of alerts. */
  const followers: AlertFollower[] = [];
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
    stores: { events, alerts },
    routes: {},
    loops: { relay: () => [startRelay(dependencies, wake.signal('outbox')), startMeasuringOutboxes(dependencies)] },
    outboxHandlers,
    verbs: {},
    dependencies,
  } satisfies Domain;
}
