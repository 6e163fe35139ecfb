import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { AddedMembers } from '@adsweep/shared/lease/messages.ts';
import type { ReserveChecks, ReservedChecks } from '../../accounts/billing/reserve-checks.ts';
import { ApiError } from '../../http/api-error.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { runsUnder } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { ScanLease, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { newChildScan } from '../../scanning/scans/request/new-child-scan.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { endGoneAds, type GoneAdsDependencies } from './end-gone-ads.ts';
import { jobMemberOf } from './job-members.ts';
import { nameAds } from './name-ads.ts';

export type AddDependencies = GoneAdsDependencies & {
  scans: GoneAdsDependencies['scans'] & Pick<ScanStore, 'insertUnlessExists' | 'withTarget'>;
  /** Counts a check of the organization; throws where it may make no more. */
  reserve: ReserveChecks;
  metrics: GoneAdsDependencies['metrics'] & Pick<WorkMetrics, 'addedMembers'>;
};

type AddedMember = AddedMembers['members'][number];

/**
 * Adds the scans of the ads that a sweep found to its job: each is reserved, then created, charged and leased in one
 * write. The scans of ads that it no longer names are ended. Returns the state of each ad; `lost`: the sweep does not
 * run under this lease. Throws 422 for ads that it may not have. Can be repeated.
 */
export async function addMembers(
  dependencies: AddDependencies,
  ref: LeaseRef,
  sent: AdBlock[],
  now: Date,
): Promise<AddedMember[] | 'lost'> {
  const found = sent.map(knownFields);
  const sweep = await nameAds(dependencies.scans, ref, found, now);
  if (!sweep?.lease) return 'lost';
  await endGoneAds(dependencies, ref, now);
  const { fence, node_id, instance, enrolment } = sweep.lease;
  const holder = {
    node_id,
    ...(instance !== undefined && { instance }),
    ...(enrolment !== undefined && { enrolment }),
  };
  const lease: ScanLease = { fence, ...holder, leased_at: now };
  const added: AddedMember[] = [];
  for (const one of found) {
    const isNamed = sweep.found_ads?.identities.includes(one.identity);
    const notAdded: AddedMember = { identity: one.identity, state: 'cap', member: null };
    added.push(isNamed ? await addMember(dependencies, { ref, sweep, lease }, one, now) : notAdded);
  }
  // A concurrent request may have named other ads meanwhile.
  await endGoneAds(dependencies, ref, now);
  return added;
}

/** Copied field by field: a node may send further ones, of any size, and lists read these scans. */
function knownFields({ identity, slot_index, ad_kind, network, network_host, signals, ...place }: AdBlock): AdBlock {
  const { x, y, width, height } = place;
  return { identity, slot_index, ad_kind, network, network_host, x, y, width, height, signals };
}

/** A running sweep. `ref`: the lease of its job; `lease`: what the scans of its ads are leased with. */
type LeasedSweep = { ref: LeaseRef; sweep: ScanRecord; lease: ScanLease };

async function addMember(
  { scans, reserve, metrics, outboxFilled }: AddDependencies,
  { ref, sweep, lease }: LeasedSweep,
  found: AdBlock,
  now: Date,
): Promise<AddedMember> {
  const child = newChildScan(sweep, found, lease, now);
  const known = await scans.findMember(ref, child._id);
  if (known) return stateOf(scans, known, found, lease);
  const reserved = await reserveCheck(reserve, sweep, child, now);
  if (!reserved) return { identity: found.identity, state: 'quota', member: null };
  const earlier = await scans.insertUnlessExists({ ...child, reserved_by: reserved.by });
  reserved.finish(earlier ? 0 : 1);
  if (earlier) return stateOf(scans, earlier, found, lease);
  metrics.addedMembers.inc();
  outboxFilled();
  return leased(child);
}

/** Null where the organization may make no more checks. */
async function reserveCheck(
  reserve: ReserveChecks,
  sweep: ScanRecord,
  { _id: id, organization_id, price_micros: priceMicros, ad_block }: ScanRecord,
  now: Date,
): Promise<ReservedChecks | null> {
  const request = {
    id,
    names: [`${sweep._id}/${ad_block?.identity}`],
    indexes: [0],
    checks: 1,
    priceMicros,
    isRepeatable: true,
    now,
  };
  try {
    return await reserve(organization_id, request);
  } catch (error) {
    if (error instanceof ApiError && error.code.startsWith('billing.')) return null;
    throw error;
  }
}

/**
 * The state of an ad whose scan exists. A scan that an earlier lease of the job left running is leased again, with the
 * place that the ad has now.
 */
async function stateOf(
  scans: AddDependencies['scans'],
  scan: ScanRecord,
  found: AdBlock,
  lease: ScanLease,
): Promise<AddedMember> {
  const { identity } = found;
  const isLeftRunning = scan.status === 'running' && !runsUnder(scan, lease.fence);
  const isOpen = isLeftRunning || scan.status === 'pending';
  const again = isLeftRunning && (await changeScan(scans, scan, { type: 'lease', lease }, lease.leased_at));
  const running = runsUnder(scan, lease.fence) ? scan : again;
  if (!running) return { identity, state: isOpen ? 'waiting' : 'ended', member: null };
  const place = { type: 'found_again' as const, fence: lease.fence, adBlock: found };
  const placed = (await changeScan(scans, running, place, lease.leased_at)) ?? running;
  return leased(await scans.withTarget(placed));
}

function leased(scan: ScanRecord): AddedMember {
  return { identity: scan.ad_block?.identity ?? '', state: 'leased', member: jobMemberOf(scan) };
}
