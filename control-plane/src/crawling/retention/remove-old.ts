import type { WorkMetrics } from '../../metrics.ts';
import type { EndedScan, InternalScans } from '../../scan/internal-scans.ts';
import type { InternalArtifacts } from '../../scanning/artifacts/internal-artifacts.ts';
import type { RetentionStore } from './retention-store.ts';

/** For how many days scans and their evidence are kept after a scan has ended; 0: for ever. */
export type RetentionDays = { scans: number; evidence: number };

export type RetentionDependencies = {
  scans: Pick<InternalScans, 'endedUntil' | 'endedWithEvidence' | 'forgetEvidence' | 'remove'>;
  captures: { removeOfScan(scanId: string): Promise<void> };
  artifacts: Pick<InternalArtifacts, 'removeOfScan'>;
  positions: RetentionStore;
  metrics: Pick<WorkMetrics, 'removed'>;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const SCANS_AT_ONCE = 20;

/**
 * Removes a part of what has exceeded its retention; returns the number of affected scans, 0 when nothing is left. Evidence is removed before
 * its scan, so that an interrupted step can simply be repeated. The ledger and the events are not affected.
 */
export async function removeOld(dependencies: RetentionDependencies, days: RetentionDays, now: Date): Promise<number> {
  const scans = days.scans > 0 ? await removeScans(dependencies, daysBefore(now, days.scans)) : 0;
  const evidence = days.evidence > 0 ? await removeEvidence(dependencies, daysBefore(now, days.evidence), now) : 0;
  return scans + evidence;
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);

async function removeScans(dependencies: RetentionDependencies, until: Date): Promise<number> {
  const { scans, metrics } = dependencies;
  const ended = await scans.endedUntil(until, SCANS_AT_ONCE);
  await Promise.all(
    ended.map(async (scan) => {
      await removeEvidenceOf(dependencies, scan);
      await scans.remove(scan);
    }),
  );
  metrics.removed.inc({ what: 'scan' }, ended.length);
  return ended.length;
}

async function removeEvidence(dependencies: RetentionDependencies, until: Date, now: Date): Promise<number> {
  const { scans, positions, metrics } = dependencies;
  const from = await positions.readPosition();
  if (from >= until) return 0;
  const found = await scans.endedWithEvidence(from, until, SCANS_AT_ONCE);
  const ended = untilRechecked(found);
  if (ended.length < found.length && ended.length === 0) return 0;
  await Promise.all(
    ended.map(async (scan) => {
      await removeEvidenceOf(dependencies, scan);
      await scans.forgetEvidence(scan, now);
    }),
  );
  await positions.writePosition(ended.at(-1)?.completed_at ?? until);
  metrics.removed.inc({ what: 'evidence' }, ended.length);
  return ended.length;
}

/** The scans up to the first one that is being checked again: its evidence is needed until that is done, and nothing passes it by. */
function untilRechecked(ended: EndedScan[]): EndedScan[] {
  const first = ended.findIndex(({ isChecking }) => isChecking);
  return first === -1 ? ended : ended.slice(0, first);
}

async function removeEvidenceOf({ captures, artifacts }: RetentionDependencies, { _id }: EndedScan): Promise<void> {
  await artifacts.removeOfScan(_id);
  await captures.removeOfScan(_id);
}
