import type { Isolation } from '@adsweep/shared/lease/crawl-job.ts';
import { isolationOf } from '../../scan/isolation.ts';
import type { ScanInQueue } from '../../scan/scan.ts';

/** What decides whether and when a member is leased. */
type Candidate = Pick<ScanInQueue, '_id' | 'slot' | 'status' | 'lease' | 'lost_requeues'>;

/**
 * The members of a job that a new lease takes, in the order in which they run: those that wait, and those that an earlier lease left
 * running. A member that must have a node to itself has its lease to itself as well, after all others, so that no other member is
 * blamed for it. Pure.
 */
export function chooseMembers<M extends Candidate>(members: M[], fence: number): { isolation: Isolation; chosen: M[] } {
  const open = members.filter((member) => mayLease(member, fence)).toSorted((a, b) => a.slot - b.slot);
  const together = open.filter(({ lost_requeues }) => isolationOf(lost_requeues) !== 'node');
  if (together.length === 0) return { isolation: 'node', chosen: open.slice(0, 1) };
  return { isolation: isolationOf(Math.max(...together.map(({ lost_requeues }) => lost_requeues))), chosen: together };
}

const mayLease = ({ status, lease }: Candidate, fence: number): boolean =>
  status === 'pending' || (status === 'running' && (lease?.fence ?? 0) < fence);

/** Whether a member runs under the lease with this fence. */
export const runsUnder = ({ status, lease }: Pick<ScanInQueue, 'status' | 'lease'>, fence: number): boolean =>
  status === 'running' && lease?.fence === fence;
