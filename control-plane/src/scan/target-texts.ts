import type { Target } from '@adsweep/shared/scan/target.ts';
import { gatherByKey } from '../platform/gather-by-key.ts';
import { type Collection, isDuplicateKey, type Store } from '../platform/store.ts';
import type { ScanKey, ScanRecord } from './scan.ts';

/**
 * The ad tag or VAST document of a scan, or of all scans of one request: up to 500,000 characters, which only a lease
 * and `GET` of the scan need. Its id is the `target_text_id` of its scans, or the id of its only scan.
 */
type TargetText = ScanKey & {
  text: string;
  /** When it was last stored for a scan; missing in records of earlier versions. */
  put_at?: Date;
};

/** The fields of a scan from which its target and the text's key are read. */
type ScanTarget = Pick<ScanRecord, keyof ScanKey | 'target' | 'target_text_id'>;

/** The key of a target's text, and when it was stored. */
export type TargetTextRef = Omit<TargetText, 'text'>;

/**
 * The texts of targets that are stored separately from their scans. Page URLs are stored in the scan, because lists
 * show and search them.
 */
export function targetTexts(store: Store) {
  const texts: Collection<TargetText> = store.collection<TargetText>('scan_targets');
  /** One write for all scans that are about to be stored with the same text. */
  const put = gatherByKey<ScanTarget, undefined>(async (_key, scans) => {
    const { target, ...scan } = scans[0]!;
    const update = { $set: { put_at: new Date() }, $setOnInsert: { text: target.value } };
    const write = () => texts.updateOne(keyOf(scan), update, { upsert: true });
    // If two processes insert it concurrently, MongoDB refuses one, whose second attempt then updates it.
    await write().catch((error: unknown) => (isDuplicateKey(error) ? write() : Promise.reject(error)));
    return scans.map(() => undefined);
  }, Number.POSITIVE_INFINITY);

  return {
    /**
     * Stores the target text of a scan, and returns the scan without it. To be called before the scan is stored;
     * repeated calls keep the first text.
     */
    async storeTexts<T extends ScanTarget>(scan: T): Promise<T> {
      const { organization_id, target } = scan;
      if (target.kind === 'url') return scan;
      await put(`${organization_id}/${keyOf(scan)._id}`, scan);
      return { ...scan, target: { kind: target.kind, value: '' } };
    },

    /** The complete target of a scan; unchanged if the scan already contains it. Throws if its text is missing. */
    async read(scan: ScanTarget): Promise<Target> {
      const { _id, target } = scan;
      if (target.kind === 'url' || target.value !== '') return target;
      const found = await texts.findOne(keyOf(scan));
      if (!found) throw new Error(`the ${target.kind} of the scan ${_id} is missing`);
      return { kind: target.kind, value: found.text };
    },

    /** Removes the text that belongs only to this scan of the organization, if there is one. */
    async remove(organizationId: string, scanId: string): Promise<void> {
      await texts.deleteOne({ organization_id: organizationId, _id: scanId });
    },

    /** The next `limit` texts by id after `afterId` ('': from the first), without their contents. */
    async page(afterId: string, limit: number): Promise<TargetTextRef[]> {
      const found = texts.find({ _id: { $gt: afterId } }).sort({ _id: 1 });
      return found.limit(limit).project<TargetTextRef>({ organization_id: 1, put_at: 1 }).toArray();
    },

    /**
     * Removes a text that no scan refers to, if it was stored before `putBefore` and not again since `page` returned
     * it: the scan of a newer text may not be stored yet. A text of an earlier version gets the current time instead.
     * Returns whether it was removed.
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

const keyOf = ({ _id, organization_id, target_text_id = _id }: Omit<ScanTarget, 'target'>): ScanKey => ({
  _id: target_text_id,
  organization_id,
});
