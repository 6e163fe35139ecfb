import type { Target } from '@adsweep/shared/scan/target.ts';
import type { Collection, Store } from '../platform/store.ts';
import type { ScanKey, ScanRecord } from './scan.ts';

/** The ad tag or VAST document of the scan whose id it has: up to 500,000 characters, which only a lease and a single read need. */
type TargetText = ScanKey & {
  text: string;
  /** When a scan was last about to be stored with it; missing in what earlier versions stored. */
  put_at?: Date;
};

/** The key of a target's text, and when it was put there. */
export type TargetTextRef = Omit<TargetText, 'text'>;

/** The texts of targets that stand apart from their scans. Page URLs are in the scan: lists show them and search them. */
export type TargetTexts = ReturnType<typeof targetTexts>;

export function targetTexts(store: Store) {
  const texts: Collection<TargetText> = store.collection<TargetText>('scan_targets');

  return {
    /** Stores the text of a scan that is about to be stored, and answers the scan without it. Doing it again keeps the first text. */
    async storeTexts<T extends Pick<ScanRecord, keyof ScanKey | 'target'>>(scan: T): Promise<T> {
      const { _id, organization_id, target } = scan;
      if (target.kind === 'url') return scan;
      const $set = { put_at: new Date() };
      await texts.updateOne({ _id, organization_id }, { $set, $setOnInsert: { text: target.value } }, { upsert: true });
      return { ...scan, target: { kind: target.kind, value: '' } };
    },

    /** The whole target of a scan. Throws where its text is gone. */
    async read({ _id, organization_id, target }: Pick<ScanRecord, keyof ScanKey | 'target'>): Promise<Target> {
      if (target.kind === 'url') return target;
      const found = await texts.findOne({ _id, organization_id });
      if (!found) throw new Error(`the ${target.kind} of the scan ${_id} is gone`);
      return { kind: target.kind, value: found.text };
    },

    /** Removes the text of a scan of this organization, where it has one. */
    async remove(organizationId: string, scanId: string): Promise<void> {
      await texts.deleteOne({ organization_id: organizationId, _id: scanId });
    },

    /** The next `limit` texts by id after `afterId` ('' = from the first), without what they say. */
    async page(afterId: string, limit: number): Promise<TargetTextRef[]> {
      const found = texts.find({ _id: { $gt: afterId } }).sort({ _id: 1 });
      return found.limit(limit).project<TargetTextRef>({ organization_id: 1, put_at: 1 }).toArray();
    },

    /**
     * Removes a text that no scan has, as `page` gave it, where it was put there before `putBefore` and not again since: a scan may be
     * about to be stored. A text of an earlier version is dated instead. Answers whether it is gone.
     */
    async removeOrphan({ _id, organization_id, put_at }: TargetTextRef, putBefore: Date): Promise<boolean> {
      if (!put_at) {
        await texts.updateOne({ _id, organization_id, put_at: { $exists: false } }, { $set: { put_at: new Date() } });
        return false;
      }
      if (put_at >= putBefore) return false;
      return (await texts.deleteOne({ _id, organization_id, put_at })).deletedCount > 0;
    },
  };
}
