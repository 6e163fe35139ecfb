/** Every status a scan can have, in the order of its life (spec 3). */
export const SCAN_STATUSES = [
  'pending',
  'running',
  'crawled',
  'checking',
  'rechecking',
  'completed',
  'partial',
  'failed',
  'cancelled',
] as const;

export type ScanStatus = (typeof SCAN_STATUSES)[number];

const FINISHED: readonly ScanStatus[] = ['completed', 'partial'];
const FINAL: readonly ScanStatus[] = [...FINISHED, 'failed', 'cancelled'];

/** Whether nothing follows, but for a recheck of the finished ones. */
export const isFinal = (status: ScanStatus): boolean => FINAL.includes(status);
/** Whether there is a classification, labels and timing to show (spec 2.1). */
export const isFinished = (status: ScanStatus): boolean => FINISHED.includes(status);
