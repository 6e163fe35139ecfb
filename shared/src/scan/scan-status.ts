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

/** Nothing follows these, but for a recheck of the first two. */
export const FINAL_STATUSES = ['completed', 'partial', 'failed', 'cancelled'] as const satisfies readonly ScanStatus[];

/** Statuses with a classification, labels and timing to show (spec 2.1). */
export const FINISHED_STATUSES = ['completed', 'partial'] as const satisfies readonly ScanStatus[];

export const isFinal = (status: ScanStatus): boolean => (FINAL_STATUSES as readonly string[]).includes(status);
export const isFinished = (status: ScanStatus): boolean => (FINISHED_STATUSES as readonly string[]).includes(status);
