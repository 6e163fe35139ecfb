import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ScanRecord } from '../state/scan.ts';
import type { ScanStore } from '../state/scan-store.ts';

/** Puts a scan's crawl job into the index of work. */
export type Enqueue = (scan: ScanRecord) => Promise<void>;

export type SubmitParts = {
  scans: Pick<ScanStore, 'insertUnlessThere'>;
  enqueue: Enqueue;
  submitted: () => void;
  outboxFilled: () => void;
  log: Logger;
};

/** Scans that are written at the same time: they share a sync of the disk. */
const WRITTEN_AT_ONCE = 100;

/**
 * Stores new scans and acknowledges them: one write holds a scan and its charge. The index of work is told without waiting for it: while
 * that is away, the refill puts the scans there later. A scan whose id is there already is answered as it is: the request that made it
 * was interrupted.
 */
export async function submit(parts: SubmitParts, scans: ScanRecord[]): Promise<ScanRecord[]> {
  const stored: ScanRecord[] = [];
  for (let from = 0; from < scans.length; from += WRITTEN_AT_ONCE) {
    const together = scans.slice(from, from + WRITTEN_AT_ONCE);
    stored.push(...(await Promise.all(together.map((scan) => insert(parts, scan)))));
  }
  parts.outboxFilled();
  void enqueueAll(parts, stored);
  return stored;
}

async function insert({ scans, submitted }: SubmitParts, scan: ScanRecord): Promise<ScanRecord> {
  const earlier = await scans.insertUnlessThere(scan);
  if (!earlier) submitted();
  return earlier ?? scan;
}

async function enqueueAll({ enqueue, log }: SubmitParts, scans: ScanRecord[]): Promise<void> {
  try {
    for (const scan of scans) if (scan.status === 'pending') await enqueue(scan);
  } catch (cause) {
    log.info({ scan_id: scans[0]?._id, scans: scans.length, cause }, 'new scans are not in the index of work yet');
  }
}
