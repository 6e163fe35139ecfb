import type { Store } from '../../platform/store.ts';

/** Up to when the evidence of all scans that had ended was removed. */
type Position = { _id: 'evidence'; removed_until: Date };

/** The position of retention, so that no step looks again at what earlier steps have dealt with. */
export type RetentionStore = ReturnType<typeof retentionStore>;

export function retentionStore(store: Store) {
  const positions = store.collection<Position>('retention');
  return {
    async readPosition(): Promise<Date> {
      return (await positions.findOne({ _id: 'evidence' }))?.removed_until ?? new Date(0);
    },

    async writePosition(removed_until: Date): Promise<void> {
      await positions.updateOne({ _id: 'evidence' }, { $set: { removed_until } }, { upsert: true });
    },
  };
}
