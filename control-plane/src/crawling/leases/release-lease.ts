import { backoffMs } from '@adsweep/shared/service/retry.ts';
import type { ScanEvent } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { ScanInQueue, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { discardEvidence } from '../captures/store-evidence.ts';
import type { Enrolments } from '../fleet/enrolments.ts';
import type { MarkedNodes } from '../fleet/nodes.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { type EndDependencies, RETRY_BACKOFF } from './end-attempt.ts';
import { attemptMs } from './lease-lifetime.ts';
import { leaseRefOf } from './renew.ts';
import { membersUnder, pagesOfRunning } from './running-scans.ts';

/** Releases of a scan after which it is queued again at once. More are no drain: its nodes acquire and release it without end. */
const RELEASED_AT_ONCE = 20;

const waitAfterRelease = ({ releases = 0 }: Pick<ScanRecord, 'releases'>): number =>
  releases < RELEASED_AT_ONCE ? 0 : backoffMs(RETRY_BACKOFF, releases - RELEASED_AT_ONCE);

/**
 * Ends attempts without a result, because the node did not start them or is stopping: the job is queued again at once, and from the 21st
 * release of a scan on after a pause, like a retry. `lost`: no member runs under this lease.
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

type ReleaseDependencies = EndDependencies & { scans: EndDependencies['scans'] & Pick<ScanStore, 'pageInStatus'> };
/** `announceOrder` ends the open long polls of a node, at every control plane. */
type OrderDependencies = ReleaseDependencies & { announceOrder: (nodeId: string) => void };
export type BlockDependencies = OrderDependencies & { blocked: Pick<MarkedNodes, 'add'> };
export type RevokeDependencies = OrderDependencies & { enrolments: Pick<Enrolments, 'revoke'> };
export type DrainDependencies = Pick<OrderDependencies, 'announceOrder'> & {
  scans: Pick<ScanStore, 'pageInStatus'>;
  draining: Pick<MarkedNodes, 'add'>;
};

/** The scans that run on the processes of a node, by its name. */
async function* runningOn(scans: Pick<ScanStore, 'pageInStatus'>, nodeId: string): AsyncGenerator<ScanInQueue> {
  for await (const running of pagesOfRunning(scans)) yield* running.filter(({ lease }) => lease?.node_id === nodeId);
}

/** Lets a node take no work from now on. Returns when the attempts that run on it will have ended at the latest. */
export async function drainNode(
  { scans, draining, announceOrder }: DrainDependencies,
  nodeId: string,
  now: Date,
): Promise<Date> {
  await draining.add(nodeId, now);
  announceOrder(nodeId);
  let longestMs = 0;
  for await (const { job_kind } of runningOn(scans, nodeId)) longestMs = Math.max(longestMs, attemptMs(job_kind));
  return new Date(now.getTime() + longestMs);
}

/** Releases the leases of all processes of a node, by its name. Returns how many attempts were ended. */
async function releaseLeasesOf(dependencies: ReleaseDependencies, nodeId: string, now: Date): Promise<number> {
  let requeued = 0;
  for await (const scan of runningOn(dependencies.scans, nodeId)) {
    const ref = leaseRefOf(scan);
    if (ref && (await releaseLease(dependencies, ref, now)) === 'ended') requeued += 1;
  }
  return requeued;
}

/**
 * Blocks all processes of a node by its name: their calls get 403, and their leases are released at once. A lease that is granted
 * at the same moment is released by the control plane process that grants it.
 */
export async function blockNode(dependencies: BlockDependencies, nodeId: string, now: Date): Promise<void> {
  await dependencies.blocked.add(nodeId, now);
  dependencies.announceOrder(nodeId);
  const requeued = await releaseLeasesOf(dependencies, nodeId, now);
  dependencies.logger.warn({ node_id: nodeId, requeued }, 'a node was blocked');
}

/** Ends the enrolment of a node: its calls get 401, and its leases are released like those of a blocked one. False: there is none. */
export async function revokeNode(dependencies: RevokeDependencies, nodeId: string, now: Date): Promise<boolean> {
  if (!(await dependencies.enrolments.revoke(nodeId, now))) return false;
  dependencies.announceOrder(nodeId);
  const requeued = await releaseLeasesOf(dependencies, nodeId, now);
  dependencies.logger.warn({ node_id: nodeId, requeued }, 'the enrolment of a node was revoked');
  return true;
}
