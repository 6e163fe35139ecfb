import type { EventContent, EventKind } from '@adsweep/shared/events/event-kinds.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';

/** An event of a scan, from which deliveries are made. `sequence` orders the events of one scan. */
export type EventRecord = {
  _id: string;
  organization_id: string;
  scan_id: string;
  campaign_id: string | null;
  sequence: number;
  kind: EventKind;
  payload: EventContent['payload'];
  occurred_at: Date;
  /** The trace context of the scan; absent: it is not traced. */
  traceparent?: string;
};

/** Spec 6: replayable for seven days, then deleted. */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60;

/** Selects events: of a scan, and between two moments (ISO 8601, the first inclusive); undefined: all. */
export type EventFilter = { scan_id: string | undefined; from: string | undefined; to: string | undefined };

/** The only code that touches the events collection. */
export type EventStore = ReturnType<typeof eventStore>;

export function eventStore(store: Store) {
  const events: Collection<EventRecord> = store.collection<EventRecord>('events');

  return {
    async createIndexes(): Promise<void> {
      await events.createIndexes([
        { key: { occurred_at: 1 }, expireAfterSeconds: LIFETIME_SECONDS },
        { key: { organization_id: 1, scan_id: 1, sequence: 1 } },
        { key: { organization_id: 1, occurred_at: 1, _id: 1 } },
      ]);
    },

    /** Adds an event, unless it was added before under the same id. */
    async add(event: EventRecord): Promise<void> {
      await insertOnce(events, event);
    },

    /** Those of these events of an organization that were not deleted, in any order. */
    async findAll(organization_id: string, ids: string[]): Promise<EventRecord[]> {
      return events.find({ _id: { $in: ids }, organization_id }).toArray();
    },

    /**
     * The next events of an organization between two moments (the first inclusive), oldest first; `after`: the last of
     * those that were read.
     */
    async between(
      organization_id: string,
      [from, to]: [Date, Date],
      after: Pick<EventRecord, '_id' | 'occurred_at'> | null,
      limit: number,
    ): Promise<EventRecord[]> {
      const begin = after ? after.occurred_at : from;
      const found = await events
        .find({
          organization_id,
          occurred_at: { $gte: begin, $lt: to },
          ...(after && { $or: [{ occurred_at: { $gt: begin } }, { _id: { $gt: after._id } }] }),
        })
        .sort({ occurred_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      return found;
    },

    /** A page of an organization's events that match, newest first, and how many there are. */
    async page(
      organization_id: string,
      { scan_id, from, to }: EventFilter,
      { skip, limit }: { skip: number; limit: number },
    ): Promise<{ rows: EventRecord[]; total: number }> {
      const occurred_at = { ...(from && { $gte: new Date(from) }), ...(to && { $lt: new Date(to) }) };
      const filter = {
        organization_id,
        ...(scan_id !== undefined && { scan_id }),
        ...((from || to) && { occurred_at }),
      };
      // The events of a scan often have the same time; their numbers order them.
      const order: Record<string, -1> = scan_id === undefined ? { occurred_at: -1, _id: -1 } : { sequence: -1 };
      const page = events.find(filter).sort(order).skip(skip).limit(limit);
      const [rows, total] = await Promise.all([page.toArray(), events.countDocuments(filter)]);
      return { rows, total };
    },

    /** The ids of the events of these scans, with their numbers, in any order. */
    async ofScans(
      organization_id: string,
      scanIds: string[],
    ): Promise<Pick<EventRecord, '_id' | 'scan_id' | 'sequence'>[]> {
      const found = events.find({ organization_id, scan_id: { $in: scanIds } });
      return found.project<Pick<EventRecord, '_id' | 'scan_id' | 'sequence'>>({ scan_id: 1, sequence: 1 }).toArray();
    },

    /** A scan's events in the order in which they occurred. */
    async ofScan(organizationId: string, scanId: string): Promise<EventRecord[]> {
      return events.find({ organization_id: organizationId, scan_id: scanId }).sort({ sequence: 1 }).toArray();
    },
  };
}
