import { createHash } from 'node:crypto';
import { insertOnce } from '../insert-once.ts';
import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

/**
 * Gives events a UUID, their scan and their sequence number; outbox entries too, with a due time. In older versions a
 * scan had each kind of event at most once, always in this order.
 */
const ORDER = ['scanning.screenshot.captured', 'scanning.tags.detected', 'scanning.scan.completed'];
const sequenceOf = (kind: string): number => ORDER.indexOf(kind) + 1;

/** A UUID that is derived from the old id, so that a repeated run creates no second event. */
function uuidOf(oldId: string): string {
  const hex = createHash('sha256').update(oldId).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

type OldEvent = { _id: string; kind: string; payload: { scan_id: string } } & Document;
type OldScan = { _id: string; outbox?: ({ kind: string; event: string; id: string } & Document)[]; outbox_at?: Date };

export const eventsInSequence: Migration = {
  version: 1,
  name: 'events in sequence',
  async run(store, checkpoint) {
    const events = store.collection<OldEvent>('events');
    await inBatches(events, { sequence: { $exists: false } }, checkpoint, async (documents) => {
      for (const { _id, ...event } of documents) {
        const fields = { scan_id: event.payload.scan_id, campaign_id: null, sequence: sequenceOf(event.kind) };
        await insertOnce(events, { ...event, ...fields, _id: uuidOf(_id) });
        await events.deleteOne({ _id });
      }
    });

    const scans = store.collection<OldScan & Document>('scans');
    await inBatches(scans, { event_sequence: { $exists: false } }, checkpoint, async (documents) => {
      await scans.bulkWrite(
        documents.map((scan) => ({ updateOne: { filter: { _id: scan._id }, update: newFields(scan) } })),
      );
    });
  },
};

function newFields({ outbox = [], outbox_at }: OldScan) {
  const entries = outbox.map((entry) =>
    entry.kind === 'event' ? { ...entry, id: uuidOf(entry.id), sequence: sequenceOf(entry.event) } : entry,
  );
  const due = outbox_at ? { outbox_due_at: outbox_at } : {};
  return { $set: { event_sequence: ORDER.length, outbox: entries, ...due } };
}
