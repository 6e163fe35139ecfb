import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { AddedMembers } from '@adsweep/shared/lease/messages.ts';
import type { ReserveChecks } from '../../accounts/billing/reserve-checks.ts';
import { refused } from '../../http/api-error.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { ScanLease, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { newChildScan } from '../../scanning/scans/request/new-child-scan.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { jobMemberOf, runsUnder } from './job-members.ts';

export type AddDependencies = {
  scans: Pick<ScanStore, 'findMember' | 'insertUnlessExists' | 'withTarget' | 'apply'>;
  /** Counts a check of the organization; throws where it may make no more. */
  reserve: ReserveChecks;
  metrics: Pick<WorkMetrics, 'addedMembers'>;
  /** Called when a scan's outbox was filled. */
  outboxFilled: () => void;
};

type AddedMember = AddedMembers['members'][number];

/**
 * Adds scans that a sweep found to its job: each is reserved, then created, charged and leased in one write. Returns the state of each
 * slot. `lost`: the sweep does not run under this lease. Throws 422 for slots that the job's kind does not have, and 403 at the first scan
 * that exceeds the organization's limits; the scans before it are added.
 */
export async function addMembers(
  dependencies: AddDependencies,
  ref: LeaseRef,
  found: AdBlock[],
  now: Date,
): Promise<AddedMember[] | 'lost'> {
  const parent = await dependencies.scans.findMember(ref, ref.jobId);
  if (!parent?.lease || !runsUnder(parent, ref.fence)) return 'lost';
  refuseSlots(parent, found);
  const { fence, node_id, instance } = parent.lease;
  const lease: ScanLease = { fence, node_id, ...(instance !== undefined && { instance }), leased_at: now };
  const added: AddedMember[] = [];
  for (const one of found) added.push(await addMember(dependencies, ref, parent, one, lease, now));
  return added;
}

function refuseSlots({ job_kind }: ScanRecord, found: AdBlock[]): void {
  const slots = JOB_LIMITS[job_kind].added_members;
  const issues = found.flatMap(({ slot_index }, at) => {
    if (slot_index < slots) return [];
    const msg = `A job of the kind ${job_kind} can get at most ${slots} more members.`;
    return [{ loc: ['body', 'members', at, 'slot_index'], msg, type: 'too_many_members', ctx: { given: slot_index } }];
  });
  if (issues.length > 0) throw refused(issues);
}

async function addMember(
  { scans, reserve, metrics, outboxFilled }: AddDependencies,
  ref: LeaseRef,
  parent: ScanRecord,
  found: AdBlock,
  lease: ScanLease,
  now: Date,
): Promise<AddedMember> {
  const child = newChildScan(parent, found, lease, now);
  const known = await scans.findMember(ref, child._id);
  if (known) return stateOf(scans, known, lease);
  const { _id: id, organization_id, price_micros: priceMicros } = child;
  const request = { id, names: [parent._id], indexes: [child.slot], checks: 1, priceMicros, isRepeatable: true, now };
  const reserved = await reserve(organization_id, request);
  const earlier = await scans.insertUnlessExists(child);
  reserved.finish(earlier ? 0 : 1);
  if (earlier) return stateOf(scans, earlier, lease);
  metrics.addedMembers.inc();
  outboxFilled();
  return leased(child);
}

/** The state of a slot whose scan exists. A scan that an earlier lease of the job left running is leased again. */
async function stateOf(scans: AddDependencies['scans'], scan: ScanRecord, lease: ScanLease): Promise<AddedMember> {
  if (runsUnder(scan, lease.fence)) return leased(await scans.withTarget(scan));
  const isLeftRunning = scan.status === 'running';
  const again = isLeftRunning && (await changeScan(scans, scan, { type: 'lease', lease }, lease.leased_at));
  if (again) return leased(await scans.withTarget(again));
  const isWaiting = isLeftRunning || scan.status === 'pending';
  return { identity: scan.ad_block?.identity ?? '', state: isWaiting ? 'waiting' : 'ended', member: null };
}

function leased(scan: ScanRecord): AddedMember {
  return { identity: scan.ad_block?.identity ?? '', state: 'leased', member: jobMemberOf(scan) };
}
