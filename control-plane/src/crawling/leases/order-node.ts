import type { ScanInQueue } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { Enrolments } from '../fleet/enrolments.ts';
import type { MarkedNodes } from '../fleet/nodes.ts';
import type { EndDependencies } from './end-attempt.ts';
import { attemptMs } from './lease-lifetime.ts';
import { releaseLease } from './release-lease.ts';
import { leaseRefOf } from './renew.ts';
import { pagesOfRunning } from './running-scans.ts';

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
 * Blocks all processes of a node by its name: their calls get 403, and their leases are released at once. A lease that
 * is granted at the same moment is released by the control plane process that grants it.
 */
export async function blockNode(dependencies: BlockDependencies, nodeId: string, now: Date): Promise<void> {
  await dependencies.blocked.add(nodeId, now);
  dependencies.announceOrder(nodeId);
  const requeued = await releaseLeasesOf(dependencies, nodeId, now);
  dependencies.logger.warn({ node_id: nodeId, requeued }, 'a node was blocked');
}

/**
 * Ends the enrolment of a node: its calls get 401, and its leases are released like those of a blocked one. False:
 * there is none.
 */
export async function revokeNode(dependencies: RevokeDependencies, nodeId: string, now: Date): Promise<boolean> {
  if (!(await dependencies.enrolments.revoke(nodeId, now))) return false;
  dependencies.announceOrder(nodeId);
  const requeued = await releaseLeasesOf(dependencies, nodeId, now);
  dependencies.logger.warn({ node_id: nodeId, requeued }, 'the enrolment of a node was revoked');
  return true;
}
