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

/** Whether an attempt runs, or will: the scan has no result yet. */
export const isOpen = (status: ScanStatus): boolean => status === 'pending' || status === 'running';
/** Whether no other status follows, except by a recheck. */
export const isFinal = (status: ScanStatus): boolean => FINAL.includes(status);
/** Whether the scan has a classification, labels and timing (spec 2.1). */
export const isFinished = (status: ScanStatus): boolean => FINISHED.includes(status);
