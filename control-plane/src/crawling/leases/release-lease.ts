import { backoffMs } from '@adsweep/shared/service/retry.ts';
import type { ScanEvent } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { discardEvidence } from '../captures/store-evidence.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { type EndDependencies, RETRY_BACKOFF } from './end-attempt.ts';
import { membersUnder } from './running-scans.ts';

/**
 * Releases of a scan after which it is queued again at once. More are no drain: its nodes acquire and release it
 * without end.
 */
const RELEASED_AT_ONCE = 20;

const waitAfterRelease = ({ releases = 0 }: Pick<ScanRecord, 'releases'>): number =>
  releases < RELEASED_AT_ONCE ? 0 : backoffMs(RETRY_BACKOFF, releases - RELEASED_AT_ONCE);

/**
 * Ends attempts without a result, because the node did not start them or is stopping: the job is queued again at once,
 * and from the 21st release of a scan on after a pause, like a retry. `lost`: no member runs under this lease.
 */
export async function releaseLease(dependencies: EndDependencies, ref: LeaseRef, now: Date): Promise<'ended' | 'lost'> {
  const released = await changeMembers(
    dependencies.scans,
    ref,
    (scan) => ({ type: 'release', fence: ref.fence, waitMs: waitAfterRelease(scan) }),
    now,
  );
  await closeLease(dependencies, ref, now, { isReleased: true });
  for (const scan of released) discardEvidence(dependencies, scan, ref.fence);
  return released.length > 0 ? 'ended' : 'lost';
}

/** Records that the node of a lease runs nothing else; false if no member runs under this lease. */
export async function beginAlone(
  { scans }: Pick<EndDependencies, 'scans'>,
  ref: LeaseRef,
  now: Date,
): Promise<boolean> {
  const begun = await changeMembers(scans, ref, () => ({ type: 'alone', fence: ref.fence }), now);
  return begun.length > 0;
}

/** Applies its event to every member that runs under the lease; returns the changed ones. */
async function changeMembers(
  scans: EndDependencies['scans'],
  ref: LeaseRef,
  eventOf: (scan: ScanRecord) => ScanEvent,
  now: Date,
): Promise<ScanRecord[]> {
  const running = await membersUnder(scans, ref);
  const changed = await Promise.all(running.map((scan) => changeScan(scans, scan, eventOf(scan), now)));
  return changed.filter((scan) => scan !== null);
}
