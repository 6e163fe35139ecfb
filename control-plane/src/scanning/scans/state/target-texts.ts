import type { Target } from '@adsweep/shared/scan/target.ts';
import { insertOnce } from '../../../platform/insert-once.ts';
import type { Collection, Store } from '../../../platform/store.ts';
import type { ScanKey, ScanRecord } from './scan.ts';

/** The ad tag or VAST document of the scan whose id it has: up to 500,000 characters, which only a lease and a single read need. */
type TargetText = { _id: string; organization_id: string; text: string };

/** The texts of targets that stand apart from their scans. Page URLs are in the scan: lists show them and search them. */
export type TargetTexts = ReturnType<typeof targetTexts>;

export function targetTexts(store: Store) {
  const texts: Collection<TargetText> = store.collection<TargetText>('scan_targets');

  return {
    /** Stores the text of a scan that is about to be stored, and answers the scan without it. Doing it again changes nothing. */
    async putApart<T extends Pick<ScanRecord, keyof ScanKey | 'target'>>(scan: T): Promise<T> {
      const { _id, organization_id, target } = scan;
      if (target.kind === 'url') return scan;
      await insertOnce(texts, { _id, organization_id, text: target.value });
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
  };
}
