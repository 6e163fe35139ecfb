import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import { insertOnce } from '../platform/insert-once.ts';
import type { Collection, Store } from '../platform/store.ts';

/** Something that happened; deliveries are made of it. */
export type EventRecord = {
  _id: string;
  organization_id: string;
  kind: EventKind;
  payload: Record<string, unknown>;
  occurred_at: Date;
};

/** Spec 6: replayable for seven days, then deleted. */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60;

/** The only code that touches the events collection. */
export type EventStore = ReturnType<typeof eventStore>;

export function eventStore(store: Store) {
  const events: Collection<EventRecord> = store.collection<EventRecord>('events');

  return {
    async createIndexes(): Promise<void> {
      await events.createIndexes([{ key: { occurred_at: 1 }, expireAfterSeconds: LIFETIME_SECONDS }]);
    },

    /** Adds an event; one of the same id is the same event and is there already. */
    async add(event: EventRecord): Promise<void> {
      await insertOnce(events, event);
    },
  };
}
