import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { WorkMetrics } from '../../metrics.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { startCleaning } from '../../platform/start-cleaning.ts';
import type { Loop } from '../../platform/start-loop.ts';
import type { Store } from '../../platform/store.ts';
import type { EndedScan } from '../../scan/ended-scan-store.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import { type UnreferencedDependencies, unreferencedSweep } from './unreferenced-sweep.ts';

/** Days for which scans and their captures are kept after the end of a scan; 0: for ever. */
export type RetentionDays = { scans: number; evidence: number };

export type RetentionDependencies = {
  scans: Pick<ScanStore, 'endedUntil' | 'endedWithEvidence' | 'beginRemoval' | 'endRemoval' | 'remove'>;
  captures: { removeOfScan(scanId: string): Promise<void> };
  artifacts: Pick<ScanningDomain['stores']['artifacts'], 'removeOfScan'>;
  positions: RetentionStore;
  metrics: Pick<WorkMetrics, 'removed'>;
};

const SCANS_AT_ONCE = 20;

/**
 * Removes a batch of what has exceeded its retention; returns the number of affected scans, 0 when nothing is left.
 * Captures and files are removed before their scan, so that an interrupted batch can be repeated. The ledger and the
 * events are kept.
 */
export async function removeOld(dependencies: RetentionDependencies, days: RetentionDays, now: Date): Promise<number> {
  const scans = days.scans > 0 ? await removeScans(dependencies, daysBefore(now, days.scans), now) : 0;
  const evidence = days.evidence > 0 ? await removeEvidence(dependencies, daysBefore(now, days.evidence), now) : 0;
  return scans + evidence;
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);

async function removeScans(dependencies: RetentionDependencies, until: Date, now: Date): Promise<number> {
  const { scans, metrics } = dependencies;
  const ended = await scans.endedUntil(until, SCANS_AT_ONCE);
  const removed = await inTurns(ended, async (scan) => {
    const isRemoved = await removeEvidenceOf(dependencies, scan, now);
    if (isRemoved) await scans.remove(scan);
    return isRemoved;
  });
  return counted(metrics, 'scan', removed);
}

async function removeEvidence(dependencies: RetentionDependencies, until: Date, now: Date): Promise<number> {
  const { scans, positions, metrics } = dependencies;
  const from = await positions.readPosition();
  if (from >= until) return 0;
  const ended = await scans.endedWithEvidence(from, until, SCANS_AT_ONCE);
  const removed = await inTurns(ended, async (scan) => {
    const isRemoved = await removeEvidenceOf(dependencies, scan, now);
    if (isRemoved) await scans.endRemoval(scan);
    return isRemoved;
  });
  // The next batch begins at the first scan that kept its evidence.
  const last = ended.find((_, at) => !removed[at]) ?? ended.at(-1);
  await positions.writePosition(last?.completed_at ?? until);
  return counted(metrics, 'evidence', removed);
}

function counted(metrics: RetentionDependencies['metrics'], what: 'scan' | 'evidence', removed: boolean[]): number {
  const count = removed.filter(Boolean).length;
  metrics.removed.inc({ what }, count);
  return count;
}

/** False: the scan is being rechecked, and needs its evidence. */
async function removeEvidenceOf(
  { scans, captures, artifacts }: RetentionDependencies,
  scan: EndedScan,
  now: Date,
): Promise<boolean> {
  // First: a recheck that begins meanwhile would find no evidence.
  if (!(await scans.beginRemoval(scan, now))) return false;
  await artifacts.removeOfScan(scan._id);
  await captures.removeOfScan(scan._id);
  return true;
}

/** The evidence of all scans that ended before `removed_until` was removed. */
type Position = { _id: 'evidence'; removed_until: Date };

/** Stores the position of retention, from which the next batch continues. */
export type RetentionStore = ReturnType<typeof retentionStore>;

export function retentionStore(store: Store) {
  const positions = store.collection<Position>('retention');
  return {
    async readPosition(): Promise<Date> {
      return (await positions.findOne({ _id: 'evidence' }))?.removed_until ?? new Date(0);
    },

    async writePosition(removed_until: Date): Promise<void> {
      await positions.updateOne({ _id: 'evidence' }, { $set: { removed_until } }, { upsert: true });
    },
  };
}

export type StartRetentionDependencies = RetentionDependencies &
  UnreferencedDependencies & { redis: RedisClient; logger: Logger };

/** Removes scans and evidence past their retention, and files that no scan refers to. */
export function startRetention(dependencies: StartRetentionDependencies, days: RetentionDays): Loop {
  const removeSome = async (now: Date) => (await removeOld(dependencies, days, now)) > 0;
  return startCleaning(dependencies.redis, dependencies.logger, {
    expired: { name: 'retention', clean: removeSome },
    walk: { name: 'unreferenced', clean: unreferencedSweep(dependencies) },
  });
}
