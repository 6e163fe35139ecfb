import type { Domain } from '../domain.ts';
import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { OutboxSource } from '../platform/outbox/outbox-source.ts';
import type { Platform } from '../platform/platform.ts';
import { eventStore } from './events/event-store.ts';
import { recordEvent } from './events/record-event.ts';
import { type RelayDependencies, startMeasuringOutboxes, startRelay } from './outbox/relay.ts';

/** The outboxes of all other domains' records, and how their kinds of entries are carried out. */
export type DeliveryNeeds = { sources: OutboxSource[]; handlers: Omit<OutboxHandlers, 'event'> };

/** Records events, and carries out the outbox entries of all domains. */
export function deliveryDomain({ store, wake, metrics, logger }: Platform, { sources, handlers }: DeliveryNeeds) {
  const events = eventStore(store);
  const outboxHandlers = {
    event: (entry, origin) => recordEvent(events, entry, origin),
  } satisfies Partial<OutboxHandlers>;
  const dependencies: RelayDependencies = { sources, handlers: { ...handlers, ...outboxHandlers }, metrics, logger };
  return {
    stores: { events },
    routes: {},
    loops: { relay: () => [startRelay(dependencies, wake.signal('outbox')), startMeasuringOutboxes(dependencies)] },
    outboxHandlers,
    verbs: {},
    dependencies,
  } satisfies Domain;
}
