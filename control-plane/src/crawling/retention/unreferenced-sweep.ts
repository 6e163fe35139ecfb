import type { FarmMetrics } from '../../metrics.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import type { FarmArtifacts } from '../../scanning/artifacts/farm-artifacts.ts';
import type { FarmScans } from '../../scanning/scans/state/farm-scans.ts';
import { attemptOf, captureIdOf } from '../captures/capture-record.ts';

export type UnreferencedDependencies = {
  scans: Pick<FarmScans, 'endsOf'>;
  captures: { pageOfIds(afterId: string, limit: number): Promise<string[]>; remove(id: string): Promise<void> };
  artifacts: Pick<FarmArtifacts, 'pageOfKept' | 'discard'>;
  metrics: Pick<FarmMetrics, 'removed'>;
};

/** Whoever writes late for an attempt of a scan that has ended finds out within this time that the scan does not name it. */
const LATE_WRITES_MS = 60 * 60 * 1000;
const PAGE = 200;

/**
 * Finds captures and kept files that no scan names, left by a process that was killed between storing them and writing the scan. Each call
 * looks at one page of each where the last one stopped, and answers whether there is more; after the last page the walk begins anew.
 */
export function unreferencedSweep(dependencies: UnreferencedDependencies): (now: Date) => Promise<boolean> {
  const { captures, artifacts } = dependencies;
  /** After which id each walk goes on; null: it is at its end. */
  let [captureId, artifactId]: [string | null, string | null] = ['', ''];

  return async (now) => {
    const ids = captureId === null ? [] : await captures.pageOfIds(captureId, PAGE);
    const kept = artifactId === null ? [] : await artifacts.pageOfKept(artifactId, PAGE);
    const attempts = [...ids.map(attemptOf), ...kept.map(({ scan_id, fence }) => ({ scanId: scan_id, fence }))];
    await removeUnreferenced(dependencies, attempts, now);
    captureId = ids.at(-1) ?? null;
    artifactId = kept.at(-1)?._id ?? null;
    const hasMore = captureId !== null || artifactId !== null;
    if (!hasMore) [captureId, artifactId] = ['', ''];
    return hasMore;
  };
}

async function removeUnreferenced(
  { scans, captures, artifacts, metrics }: UnreferencedDependencies,
  attempts: AttemptRef[],
  now: Date,
): Promise<void> {
  const ends = await scans.endsOf([...new Set(attempts.map(({ scanId }) => scanId))]);
  const isUnreferenced = (ref: AttemptRef) => {
    const scan = ends.get(ref.scanId);
    if (!scan) return true;
    const isOver = scan.completed_at !== null && scan.completed_at.getTime() < now.getTime() - LATE_WRITES_MS;
    return isOver && scan.capture?.id !== captureIdOf(ref);
  };
  const unreferenced = new Map(attempts.filter(isUnreferenced).map((ref) => [captureIdOf(ref), ref]));
  for (const [id, ref] of unreferenced) {
    await captures.remove(id);
    await artifacts.discard(ref);
  }
  metrics.removed.inc({ what: 'unreferenced' }, unreferenced.size);
}
