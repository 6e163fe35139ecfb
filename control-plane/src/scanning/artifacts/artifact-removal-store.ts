import type { ObjectStore } from '../../platform/objects/object-store.ts';
import type { Collection } from '../../platform/store.ts';
import { type ArtifactRecord, type AttemptRef, folderOf } from './artifact.ts';

/** Maximum number of artifacts that one call of `sweep` removes. */
const SWEPT_AT_ONCE = 50;

/** The part of the artifact store that removes artifacts. */
export function artifactRemovals(artifacts: Collection<ArtifactRecord>, objects: ObjectStore) {
  /**
   * Removes the record first, unless it has changed since it was read. `unrecordedSweep` finds files without a record.
   */
  const remove = async (records: ArtifactRecord[]): Promise<void> => {
    const removeOne = async ({ _id, object, expires_at }: ArtifactRecord) => {
      const { deletedCount } = await artifacts.deleteOne({ _id, object, expires_at });
      if (deletedCount > 0) await objects.delete(object);
    };
    await Promise.all(records.map(removeOne));
  };

  return {
    remove,

    /** Removes everything that an attempt uploaded. */
    async discard(ref: AttemptRef): Promise<void> {
      await objects.deleteBelow(folderOf(ref));
      await artifacts.deleteMany({ scan_id: ref.scanId, fence: ref.fence });
    },

    /** Removes everything that the attempts of a scan uploaded. */
    async removeOfScan(scanId: string): Promise<void> {
      await objects.deleteBelow(`scans/${scanId}`);
      await artifacts.deleteMany({ scan_id: scanId });
    },

    /** The next `limit` kept artifacts by id, after `afterId` ('': from the first). */
    async pageOfKept(afterId: string, limit: number): Promise<Pick<ArtifactRecord, '_id' | 'scan_id' | 'fence'>[]> {
      return artifacts
        .find({ _id: { $gt: afterId }, kept: true })
        .sort({ _id: 1 })
        .limit(limit)
        .project<Pick<ArtifactRecord, '_id' | 'scan_id' | 'fence'>>({ scan_id: 1, fence: 1 })
        .toArray();
    },

    /** Removes a batch of the artifacts that have expired by `now`; returns their number, 0 when none is left. */
    async sweep(now: Date): Promise<number> {
      const expired = await artifacts
        .find({ expires_at: { $lte: now } })
        .limit(SWEPT_AT_ONCE)
        .toArray();
      await remove(expired);
      return expired.length;
    },
  };
}
