import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ListedObject, ObjectStore } from '../../platform/objects/object-store.ts';
import { areOwnFiles } from '../../platform/objects/own-files.ts';
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
  const areOwn = async (): Promise<boolean> => {
    const own = await areOwnFiles(store, objects);
    if (!own)
      logger.warn(
        'files without a record are not removed, because they belong to other records: check MONGODB_URL, ADSWEEP_DATA_DIR and ADSWEEP_S3_BUCKET',
      );
    return own;
  };
  return startCleaning(redis, logger, {
    expired: { name: 'sweep', clean: sweepExpired },
    walk: { name: 'sweep_unrecorded', clean: unrecordedSweep(objects, artifacts.listOf, areOwn) },
  });
}

/** A younger file may belong to an upload whose record is not stored yet; no upload takes this long. */
const MIN_AGE_MS = DAY_MS;
/** Attempts that one call looks up, except for the last list of files. */
const ATTEMPTS_AT_ONCE = 200;
/** The key of a file of an attempt. */
const OF_ATTEMPT = /^scans\/([^/]+)\/(\d+)\/[^/]+$/;

/** Returns the recorded artifacts of an attempt. */
type ListOf = (ref: AttemptRef) => Promise<Pick<ArtifactRecord, 'object'>[]>;

/**
 * Removes files without a record, which a crash between the two writes left, and what interrupted uploads left. Each
 * call continues where the last one stopped, looks up a bounded number of attempts and returns whether there are more;
 * after the last one, the walk starts over. `areOwn`: whether the files belong to these records; a walk over others
 * removes none.
 */
export function unrecordedSweep(
  objects: ObjectStore,
  listOf: ListOf,
  areOwn: () => Promise<boolean>,
): (now: Date) => Promise<boolean> {
  let walk: AsyncGenerator<ListedObject[]> | null = null;

  return async (now) => {
    const before = new Date(now.getTime() - MIN_AGE_MS);
    if (!walk) {
      await objects.removeIncomplete(before);
      if (!(await areOwn())) return false;
    }
    const current = walk ?? objects.list('scans');
    walk = null; // After an error, the walk starts over.
    for (let attempts = 0; attempts < ATTEMPTS_AT_ONCE; ) {
      const { done, value: files } = await current.next();
      if (done) return false;
      attempts += await removeUnrecorded(objects, listOf, files, before);
    }
    walk = current;
    return true;
  };
}

/** Removes those of `files` that are older and not recorded; returns how many attempts they belong to, at least 1. */
async function removeUnrecorded(objects: ObjectStore, listOf: ListOf, files: ListedObject[], before: Date) {
  const old = files.filter(({ key, modified }) => modified < before && OF_ATTEMPT.test(key));
  const attempts = Map.groupBy(old, ({ key }) => key.slice(0, key.lastIndexOf('/')));
  for (const ofAttempt of attempts.values()) {
    const [, scanId = '', fence] = OF_ATTEMPT.exec(ofAttempt[0]!.key)!;
    const recorded = new Set((await listOf({ scanId, fence: Number(fence) })).map(({ object }) => object));
    for (const { key } of ofAttempt) if (!recorded.has(key)) await objects.delete(key);
  }
  return Math.max(1, attempts.size);
}
