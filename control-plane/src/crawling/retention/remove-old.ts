import type { Logger } from '@adsweep/shared/service/logger.ts';
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
  scans: Pick<ScanStore, 'endedUntil' | 'endedWithEvidence' | 'forgetEvidence' | 'remove'>;
  captures: { removeOfScan(scanId: string): Promise<void> };
  artifacts: Pick<ScanningDomain['stores']['artifacts'], 'removeOfScan'>;
  positions: RetentionStore;
  metrics: Pick<WorkMetrics, 'removed'>;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const SCANS_AT_ONCE = 20;

/**
 * Removes a batch of what has exceeded its retention; returns the number of affected scans, 0 when nothing is left. Captures and files are
 * removed before their scan, so that an interrupted batch can be repeated. The ledger and the events are kept.
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

/** The scans before the first one that is being rechecked, which needs its evidence. The position must not move past it. */
function untilRechecked(ended: EndedScan[]): EndedScan[] {
  const first = ended.findIndex(({ isChecking }) => isChecking);
  return first === -1 ? ended : ended.slice(0, first);
}

async function removeEvidenceOf({ captures, artifacts }: RetentionDependencies, { _id }: EndedScan): Promise<void> {
  await artifacts.removeOfScan(_id);
  await captures.removeOfScan(_id);
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
