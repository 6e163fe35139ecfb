import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { FarmMetrics } from '../metrics.ts';
import { type Loop, startLoop } from '../platform/start-loop.ts';
import type { WakeSignal } from '../platform/wake-signal.ts';
import type { FarmScans } from '../scans/farm-scans.ts';
import type { ScanWithOutbox } from '../scans/scan.ts';
import type { EventEntry, MoneyEntry, OutboxEntry } from './outbox-entry.ts';

/** Where an entry comes from, for the record that it makes. */
export type Origin = { organizationId: string; scanId: string };

export type RelayDependencies = {
  scans: Pick<FarmScans, 'withOutbox' | 'clearOutbox'>;
  /** Both can be repeated: the record that an entry makes has the entry's id. */
  recordMoney: (entry: MoneyEntry, origin: Origin) => Promise<void>;
  recordEvent: (entry: EventEntry, origin: Origin) => Promise<void>;
  metrics: Pick<FarmMetrics, 'outboxEntries'>;
  logger: Logger;
};

const LOOK_EVERY_MS = 1_000;
const SCANS_AT_ONCE = 50;

/** Carries out what follows changes of scans; `filled` says that there is something. */
export function startRelay(dependencies: RelayDependencies, filled: WakeSignal): Loop {
  const turn = async () => (await relay(dependencies)) > 0;
  return startLoop(dependencies.logger, { name: 'outbox relay', everyMs: LOOK_EVERY_MS, turn, wake: filled });
}

/** Carries out the entries of the scans that have waited longest; answers how many entries it was. */
export async function relay(dependencies: RelayDependencies): Promise<number> {
  const scans = await dependencies.scans.withOutbox(SCANS_AT_ONCE);
  const counts = await Promise.all(scans.map((scan) => relayScan(dependencies, scan)));
  return counts.reduce((total, count) => total + count, 0);
}

/** One scan's entries in their order; those behind one that fails wait for it. */
async function relayScan(dependencies: RelayDependencies, scan: ScanWithOutbox): Promise<number> {
  const origin = { organizationId: scan.organization_id, scanId: scan._id };
  const done: string[] = [];
  try {
    for (const entry of scan.outbox) {
      await carryOut(dependencies, entry, origin);
      done.push(entry.id);
    }
  } catch (cause) {
    dependencies.logger.warn({ scan_id: scan._id, cause }, 'an outbox entry could not be carried out');
  }
  if (done.length > 0 || scan.outbox.length === 0) await dependencies.scans.clearOutbox(scan._id, done);
  return done.length;
}

async function carryOut(
  { recordMoney, recordEvent, metrics }: RelayDependencies,
  entry: OutboxEntry,
  origin: Origin,
): Promise<void> {
  if (entry.kind === 'event') await recordEvent(entry, origin);
  else await recordMoney(entry, origin);
  metrics.outboxEntries.inc({ kind: entry.kind });
}
