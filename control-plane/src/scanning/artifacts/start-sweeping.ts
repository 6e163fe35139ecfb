import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ObjectStore, StoredFolder } from '../../platform/object-store.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { startCleaning } from '../../platform/start-cleaning.ts';
import type { Loop } from '../../platform/start-loop.ts';
import type { Store } from '../../platform/store.ts';
import type { ArtifactRecord, AttemptRef } from './artifact.ts';
import type { ArtifactStore } from './artifact-store.ts';

type SweepParts = {
  store: Store;
  redis: RedisClient;
  objects: ObjectStore;
  artifacts: Pick<ArtifactStore, 'sweep' | 'listOf'>;
  logger: Logger;
};

/** Removes expired artifacts, and files that a crash left without a record. */
export function startSweeping({ store, objects, redis, artifacts, logger }: SweepParts): Loop {
  const sweepExpired = async (now: Date): Promise<boolean> => {
    const removed = await Promise.all([artifacts.sweep(now), store.sweepExpired(now)]);
    return removed.some((count) => count > 0);
  };
  return startCleaning(redis, logger, {
    expired: { name: 'sweep', clean: sweepExpired },
    walk: { name: 'sweep_unrecorded', clean: unrecordedSweep(objects, artifacts.listOf) },
  });
}

/** A younger file or folder may belong to an upload whose record is not stored yet; no upload takes this long. */
const MIN_AGE_MS = 24 * 60 * 60 * 1000;
const FOLDERS_AT_ONCE = 200;
const ATTEMPT_FOLDER = /^scans\/([^/]+)\/(\d+)$/;

/** Returns the recorded artifacts of an attempt. */
type ListOf = (ref: AttemptRef) => Promise<Pick<ArtifactRecord, 'object'>[]>;

/**
 * Removes files without a record, which a crash between the two writes left, and empty folders. Each call continues where the last one
 * stopped, processes a bounded number of folders and returns whether there are more; after the last folder, the walk starts over.
 */
export function unrecordedSweep(objects: ObjectStore, listOf: ListOf): (now: Date) => Promise<boolean> {
  let walk: AsyncGenerator<StoredFolder> | null = null;

  return async (now) => {
    const before = new Date(now.getTime() - MIN_AGE_MS);
    if (!walk) await objects.removeTemporary(before);
    const current = walk ?? objects.walk('scans');
    walk = null; // After an error, the walk starts over.
    for (let count = 0; count < FOLDERS_AT_ONCE; count++) {
      const { done, value: folder } = await current.next();
      if (done) return false;
      await removeUnrecorded(objects, listOf, folder, before);
    }
    walk = current;
    return true;
  };
}

async function removeUnrecorded(objects: ObjectStore, listOf: ListOf, folder: StoredFolder, before: Date) {
  if (folder.objects.length === 0 && folder.modified < before) await objects.removeEmptyFolder(folder.key);
  const old = folder.objects.filter(({ modified }) => modified < before);
  const [, scanId, fence] = ATTEMPT_FOLDER.exec(folder.key) ?? [];
  if (old.length === 0 || scanId === undefined) return;
  const recorded = new Set((await listOf({ scanId, fence: Number(fence) })).map(({ object }) => object));
  for (const { key } of old) if (!recorded.has(key)) await objects.delete(key);
}
