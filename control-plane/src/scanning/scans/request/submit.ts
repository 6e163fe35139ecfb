import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ReservationRequest, ReserveChecks } from '../../../accounts/billing/reserve-checks.ts';
import { gatherByKey } from '../../../platform/gather-by-key.ts';
import type { ScanRecord } from '../../../scan/scan.ts';
import type { ScanStore } from '../../../scan/scan-store.ts';

/** Queues the crawl jobs of pending scans. */
export type Enqueue = (scans: ScanRecord[]) => Promise<void>;

export type SubmitParts = {
  scans: Pick<ScanStore, 'insertUnlessExists' | 'countOf'>;
  reserve: ReserveChecks;
  enqueue: Enqueue;
  submitted: () => void;
  outboxFilled: () => void;
  log: Logger;
};

/** New scans of one organization, all at the same price, and the request that they come from. */
export type Submission = {
  scans: ScanRecord[];
  request: Pick<ReservationRequest, 'id' | 'names' | 'indexes' | 'isRepeatable' | 'from'>;
};

/** Scans that are written at the same time: they share a sync of the disk. */
const WRITTEN_AT_ONCE = 100;

/**
 * The same for a step of a run, between which requests go on: nobody waits for the step, and writing a scan holds the
 * event loop.
 */
const OF_RUN_AT_ONCE = 20;
const PAUSE_OF_RUN_MS = 5;

/** Submits new scans. */
export type Submit = (submission: Submission) => Promise<ScanRecord[]>;

/** Single scans of an organization that are counted, and stored, in one write. */
const SUBMITTED_AT_ONCE = 32;

/** Submits scans; single ones of an organization that arrive together go together, and each has its own outcome. */
export function submitTogether(parts: SubmitParts): Submit {
  const together = gatherByKey<Submission, PromiseSettledResult<ScanRecord[]>>(
    (_organizationId, submissions) => Promise.allSettled(submissions.map((one) => submit(parts, one))),
    SUBMITTED_AT_ONCE,
  );
  return async (submission) => {
    const [first, ...others] = submission.scans as [ScanRecord];
    if (others.length > 0) return submit(parts, submission);
    const outcome = await together(first.organization_id, submission);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
}

/**
 * Counts the checks of new scans, stores the scans and acknowledges them: one write holds a scan and its charge. The
 * jobs are queued without waiting: if Redis is unavailable, the refill queues them later. A scan whose id exists
 * already is returned as it is: the request that created it was interrupted. Throws 403 if there are more than the
 * organization may make.
 */
async function submit(parts: SubmitParts, { scans: sent, request }: Submission): Promise<ScanRecord[]> {
  const reserved = await reserve(parts, sent, request);
  const scans = reserved ? sent.map((scan) => ({ ...scan, reserved_by: reserved.by })) : sent;
  const stored: ScanRecord[] = [];
  let made = 0;
  const atOnce = request.from ? OF_RUN_AT_ONCE : WRITTEN_AT_ONCE;
  for (let from = 0; from < scans.length; from += atOnce) {
    if (request.from) await setTimeout(PAUSE_OF_RUN_MS);
    reserved?.requireTime();
    const together = scans.slice(from, from + atOnce);
    const earlier = await all(together.map((scan) => parts.scans.insertUnlessExists(scan)));
    made += earlier.filter((one) => one === null).length;
    stored.push(...together.map((scan, at) => earlier[at] ?? scan));
  }
  reserved?.finish(made);
  for (let count = 0; count < made; count += 1) parts.submitted();
  parts.outboxFilled();
  void enqueueAll(parts, stored);
  return stored;
}

/** Null if all of the scans exist: they have been counted. */
async function reserve(parts: SubmitParts, scans: ScanRecord[], request: Submission['request']) {
  const [{ organization_id, price_micros, created_at }] = scans as [ScanRecord];
  const ids = scans.map(({ _id }) => _id);
  // If none of the first ones exist, this is the first attempt: the others are written after them.
  const first = ids.slice(0, OF_RUN_AT_ONCE);
  const isRepeated = request.isRepeatable && (await parts.scans.countOf(organization_id, first)) > 0;
  const known = isRepeated ? await parts.scans.countOf(organization_id, ids) : 0;
  if (known === scans.length) return null;
  const wanted = { ...request, checks: scans.length - known, priceMicros: price_micros, now: created_at };
  return parts.reserve(organization_id, wanted);
}

/** As `Promise.all`, but rejects only when all have ended. */
async function all<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function enqueueAll({ enqueue, log }: SubmitParts, scans: ScanRecord[]): Promise<void> {
  try {
    await enqueue(scans.filter(({ status }) => status === 'pending'));
  } catch (cause) {
    log.info({ scan_id: scans[0]?._id, scans: scans.length, cause }, 'new scans are not queued yet');
  }
}
