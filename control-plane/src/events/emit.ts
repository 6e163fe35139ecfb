import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import type { OutboxEntry } from '../outbox/outbox-entry.ts';

/**
 * An event to be written with the change it tells of. `occurrence` tells events of one kind and scan apart: the capture or the check
 * that it comes from, so that a change repeated after a crash is the same event.
 */
export function emit(
  event: EventKind,
  scanId: string,
  occurrence: string | number,
  payload: Record<string, unknown>,
  now: Date,
): OutboxEntry {
  return {
    id: `${event}:${scanId}:${occurrence}`,
    kind: 'event',
    event,
    payload: { scan_id: scanId, ...payload },
    at: now,
  };
}
