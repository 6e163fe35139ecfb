import { HOUR_MS } from '@adsweep/shared/durations.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import { attemptOf, captureIdOf } from '../captures/capture-record.ts';

export type UnreferencedDependencies = {
  scans: Pick<ScanStore, 'endsOf' | 'texts'>;
  captures: { pageOfIds(afterId: string, limit: number): Promise<string[]>; remove(id: string): Promise<void> };
  artifacts: Pick<ScanningDomain['stores']['artifacts'], 'pageOfKept' | 'discard'>;
  metrics: Pick<WorkMetrics, 'removed'>;
};

/**
 * Grace period for writes in progress: an attempt that writes after the end of its scan has removed its files by then,
 * and a request that has stored a target has stored the scan.
 */
const LATE_WRITES_MS = HOUR_MS;
const PAGE = 200;

/** Processes a page after the id `after` ('': the first); returns the last id, null at the end. */
type Walk = (after: string, now: Date) => Promise<string | null>;

/**
 * Removes captures, files and target texts that no scan refers to, left by processes that were killed before they wrote
 * the scan. Each call processes the next page of each collection and returns whether there are more; after the last
 * page it starts over.
 */
export function unreferencedSweep(dependencies: UnreferencedDependencies): (now: Date) => Promise<boolean> {
  const walks = [walkCaptures, walkKeptFiles, walkTargetTexts].map((walk) => walk(dependencies));
  const start = walks.map(() => '');
  let positions: (string | null)[] = start;

  return async (now) => {
    const next: (string | null)[] = [];
    // One after the other: a file that the first walk removed must not be counted by the second.
    for (const [at, walk] of walks.entries()) next.push(positions[at] == null ? null : await walk(positions[at], now));
    const hasMore = next.some((position) => position !== null);
    positions = hasMore ? next : start;
    return hasMore;
  };
}

const walkCaptures =
  (dependencies: UnreferencedDependencies): Walk =>
  async (after, now) => {
    const ids = await dependencies.captures.pageOfIds(after, PAGE);
    await removeUnreferenced(dependencies, ids.map(attemptOf), now);
    return ids.at(-1) ?? null;
  };

const walkKeptFiles =
  (dependencies: UnreferencedDependencies): Walk =>
  async (after, now) => {
    const kept = await dependencies.artifacts.pageOfKept(after, PAGE);
    const attempts = kept.map(({ scan_id, fence }) => ({ scanId: scan_id, fence }));
    await removeUnreferenced(dependencies, attempts, now);
    return kept.at(-1)?._id ?? null;
  };

const walkTargetTexts =
  ({ scans, metrics }: UnreferencedDependencies): Walk =>
  async (after, now) => {
    const texts = await scans.texts.page(after, PAGE);
    const ends = await scans.endsOf(texts.map(({ _id }) => _id));
    const putBefore = new Date(now.getTime() - LATE_WRITES_MS);
    for (const text of texts) {
      if (ends.has(text._id) || (await scans.texts.isShared(text._id))) continue;
      if (await scans.texts.removeOrphan(text, putBefore)) metrics.removed.inc({ what: 'unreferenced' });
    }
    return texts.at(-1)?._id ?? null;
  };

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
