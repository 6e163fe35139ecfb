import type { CursorPosition } from '../http/page.ts';
import type { Filter } from '../platform/store.ts';
import { QUEUE_FIELDS, type ScanRecord } from './scan.ts';

/** A scan as it is stored, with the keys that lists are filtered by. */
export type StoredScan = ScanRecord & { filter_keys: string[] };

/** The fields of a {@link ScanInQueue}, as a projection. */
export const IN_QUEUE = Object.fromEntries(QUEUE_FIELDS.map((field) => [field, 1]));

/** Filter for the rows after a position in a list that is ordered by `field`, newest first. */
export const earlierThan = <R extends object = StoredScan>(
  field: 'created_at' | 'completed_at',
  { at, id }: CursorPosition,
): Filter<R> => ({ $or: [{ [field]: { $lt: at } }, { [field]: at, _id: { $lt: id } }] }) as Filter<R>;
