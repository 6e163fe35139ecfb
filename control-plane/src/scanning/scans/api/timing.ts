import type { ScanRecord } from '../../../scan/scan.ts';

/** The phases of a finished scan, in milliseconds. */
export type ScanTiming = { queued_ms: number; crawl_ms: number; checks_ms: number; total_ms: number };

/** The timing of a scan that was crawled and has ended; the wait for a retry counts as queued. Null for all others. */
export function timingOf({ created_at, crawled_at, completed_at, capture }: ScanRecord): ScanTiming | null {
  if (!completed_at || !crawled_at || !capture) return null;
  const total_ms = completed_at.getTime() - created_at.getTime();
  const checks_ms = completed_at.getTime() - crawled_at.getTime();
  const crawl_ms = capture.crawl_ms;
  return { queued_ms: Math.max(0, total_ms - checks_ms - crawl_ms), crawl_ms, checks_ms, total_ms };
}
