import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { ScanStore } from '../../scan/scan-store.ts';

export type CountWaitingDependencies = {
  scans: Pick<ScanStore, 'waitingForAnalysis'>;
  metrics: Pick<WorkMetrics, 'analysisWaiting' | 'analysisOldest'>;
  logger: Logger;
};

const COUNT_EVERY_MS = 10_000;
const COUNTED_MAX = 10_000;

/** Keeps the gauges of the scans that wait for their analysis up to date, also while no process analyses any. */
export function startCountingWaiting(dependencies: CountWaitingDependencies): Loop {
  const step = () => countWaiting(dependencies, new Date());
  return startLoop(dependencies.logger, { name: 'counting analyses', everyMs: COUNT_EVERY_MS, step });
}

/** Sets the gauges once. */
export async function countWaiting({ scans, metrics }: CountWaitingDependencies, now: Date): Promise<void> {
  const { count, oldestAt } = await scans.waitingForAnalysis(COUNTED_MAX);
  metrics.analysisWaiting.set(count);
  metrics.analysisOldest.set(oldestAt ? Math.max(0, now.getTime() - oldestAt.getTime()) / 1_000 : 0);
}
