import { CLASS_NAMES, type WorkMetrics } from '../metrics.ts';
import type { ScanRecord } from './scan.ts';
import { usageKindOf } from './usage-kind.ts';

type EndMetrics = Pick<WorkMetrics, 'finishedScans' | 'stageSeconds'>;

/**
 * Counts a scan that a capture or a failure has brought to an end, and records how long its stages took. A recheck has
 * no stages.
 */
export function measureEnd({ finishedScans, stageSeconds }: EndMetrics, scan: ScanRecord): void {
  finishedScans.inc({ status: scan.status, class: CLASS_NAMES[scan.band ?? 0] });
  if (scan.recheck) return;
  const kind = usageKindOf(scan);
  const { created_at, started_at, crawled_at, completed_at } = scan;
  const stages = {
    waiting: [created_at, started_at],
    crawl: [started_at, crawled_at],
    analysis: [crawled_at, completed_at],
  };
  for (const [stage, [from, to]] of Object.entries(stages))
    if (from && to) stageSeconds.observe({ stage, kind }, Math.max(0, to.getTime() - from.getTime()) / 1000);
}
