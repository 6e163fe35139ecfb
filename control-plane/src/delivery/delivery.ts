import type { OutboxHandlers } from '../platform/outbox/outbox-entry.ts';
import type { OutboxSource } from '../platform/outbox/outbox-source.ts';
import type { Platform } from '../platform/platform.ts';
import { eventStore } from './events/event-store.ts';
import { recordEvent } from './events/record-event.ts';
import { type RelayDependencies, startMeasuringOutboxes, startRelay } from './outbox/relay.ts';

/** Outbox handlers: events, and the handlers of other domains for their kinds of entries. */
export function deliveryDomain(
  { store, wake, metrics, logger }: Platform,
  sources: OutboxSource[],
  handlersOfOthers: Omit<OutboxHandlers, 'event'>,
) {
  const events = eventStore(store);
  const outboxHandlers: OutboxHandlers = {
    ...handlersOfOthers,
    event: (entry, origin) => recordEvent(events, entry, origin),
  };
  const dependencies: RelayDependencies = { sources, handlers: outboxHandlers, metrics, logger };
  return {
    stores: [events],
    dependencies,
    loops: { relay: () => [startRelay(dependencies, wake.signal('outbox')), startMeasuringOutboxes(dependencies)] },
  };
}
