import type { Target } from '@adsweep/shared/scan/target.ts';
import { gatherByKey } from '../platform/gather-by-key.ts';
import { type Collection, isDuplicateKey, type Store } from '../platform/store.ts';
import type { ScanKey, ScanRecord } from './scan.ts';

/**
 * The ad tag or VAST document of a scan, or of all scans of one request: up to 500,000 characters, which only a lease and a single read
 * need. Its id is the `target_text_id` of its scans, or the id of its only scan.
 */
type TargetText = ScanKey & {
  text: string;
  /** When a scan was last about to be stored with it; missing in what earlier versions stored. */
  put_at?: Date;
};

/** The fields of a scan that determine its target and where its text is. */
type ScanTarget = Pick<ScanRecord, keyof ScanKey | 'target' | 'target_text_id'>;

/** The key of a target's text, and when it was put there. */
export type TargetTextRef = Omit<TargetText, 'text'>;

/** The texts of targets that stand apart from their scans. Page URLs are in the scan: lists show them and search them. */
export type TargetTexts = ReturnType<typeof targetTexts>;

export function targetTexts(store: Store) {
  const texts: Collection<TargetText> = store.collection<TargetText>('scan_targets');
  /** One write for all scans that are about to be stored with the same text. */
  const put = gatherByKey<ScanTarget, undefined>(async (_key, scans) => {
    const { target, ...scan } = scans[0]!;
    const update = { $set: { put_at: new Date() }, $setOnInsert: { text: target.value } };
    const write = () => texts.updateOne(keyOf(scan), update, { upsert: true });
    // Of two processes that insert it at the same time, MongoDB refuses one, which then finds it.
    await write().catch((error: unknown) => (isDuplicateKey(error) ? write() : Promise.reject(error)));
    return scans.map(() => undefined);
  }, Number.POSITIVE_INFINITY);

  return {
    /** Stores the text of a scan that is about to be stored, and answers the scan without it. Doing it again keeps the first text. */
    async storeTexts<T extends ScanTarget>(scan: T): Promise<T> {
      const { organization_id, target } = scan;
      if (target.kind === 'url') return scan;
      await put(`${organization_id}/${keyOf(scan)._id}`, scan);
      return { ...scan, target: { kind: target.kind, value: '' } };
    },

    /** The whole target of a scan: its own, where it is not from the store. Throws where its text is gone. */
    async read(scan: ScanTarget): Promise<Target> {
      const { _id, target } = scan;
      if (target.kind === 'url' || target.value !== '') return target;
      const found = await texts.findOne(keyOf(scan));
      if (!found) throw new Error(`the ${target.kind} of the scan ${_id} is gone`);
      return { kind: target.kind, value: found.text };
    },

    /** Removes the text that is only of this scan of the organization, where it has one. */
    async remove(organizationId: string, scanId: string): Promise<void> {
      await texts.deleteOne({ organization_id: organizationId, _id: scanId });
    },

    /** The next `limit` texts by id after `afterId` ('' = from the first), without what they say. */
    async page(afterId: string, limit: number): Promise<TargetTextRef[]> {
      const found = texts.find({ _id: { $gt: afterId } }).sort({ _id: 1 });
      return found.limit(limit).project<TargetTextRef>({ organization_id: 1, put_at: 1 }).toArray();
    },

    /**
     * Removes a text that no scan names, as `page` gave it, where it was put there before `putBefore` and not again since: a scan may be
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

const keyOf = ({ _id, organization_id, target_text_id = _id }: Omit<ScanTarget, 'target'>): ScanKey => ({
  _id: target_text_id,
  organization_id,
});
