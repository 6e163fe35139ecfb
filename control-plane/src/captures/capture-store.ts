import { insertOnce } from '../platform/insert-once.ts';
import type { Collection, Store } from '../platform/store.ts';
import type { CaptureRecord } from './capture-record.ts';

/** The only code that touches the captures collection. A capture is found by the id that the scan's summary names. */
export type CaptureStore = ReturnType<typeof captureStore>;

export function captureStore(store: Store) {
  const captures: Collection<CaptureRecord> = store.collection<CaptureRecord>('captures');

  return {
    async createIndexes(): Promise<void> {
      await captures.createIndexes([{ key: { scan_id: 1 } }]);
    },

    /** Stores a capture; one of the same attempt that is there already stays as it is. */
    async insert(record: CaptureRecord): Promise<void> {
      await insertOnce(captures, record);
    },

    async find(id: string): Promise<CaptureRecord | null> {
      return captures.findOne({ _id: id });
    },

    async remove(id: string): Promise<void> {
      await captures.deleteOne({ _id: id });
    },
  };
}
