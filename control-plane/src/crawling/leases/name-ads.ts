import { AD_BLOCKS_MAX, type AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { type FailureCode, isOurFault } from '@adsweep/shared/failures.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { isOpen } from '@adsweep/shared/scan/scan-status.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { refused } from '../../http/api-error.ts';
import { runsUnder } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { FoundAds, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { childScanId } from '../../scanning/scans/request/new-child-scan.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

type Scans = Pick<ScanStore, 'findMember' | 'apply'>;

/**
 * Writes to a sweep which ads it has found; only these may have scans. Returns the sweep, null if it does not run under
 * this lease. Throws 422 for ads that it may not have: not of its formats, more than its cap, or two with one identity.
 */
export async function nameAds(scans: Scans, ref: LeaseRef, found: AdBlock[], now: Date): Promise<ScanRecord | null> {
  for (;;) {
    const sweep = await scans.findMember(ref, ref.jobId);
    if (!sweep || !runsUnder(sweep, ref.fence)) return null;
    const cap = requireAllowed(sweep, found);
    const named = found.map(({ identity }) => identity);
    const ads = adsAfter(sweep.found_ads, await endedUnnamed(scans, ref, sweep, named), named, cap);
    if (ads.identities.join() === (sweep.found_ads?.identities ?? []).join()) return sweep;
    // Null: a concurrent request has changed the ads, or the lease has ended.
    const changed = await changeScan(scans, sweep, { type: 'found_ads', fence: ref.fence, ads }, now);
    if (changed) return changed;
  }
}

/** Returns how many ads the sweep may have. */
function requireAllowed({ discovery, job_kind }: ScanRecord, found: AdBlock[]): number {
  const cap = Math.min(discovery?.max_discovered_ads ?? 0, JOB_LIMITS[job_kind].added_members);
  const identities = found.map(({ identity }) => identity);
  const issue = (at: number, field: string, type: string, msg: string): Issue => ({
    loc: ['body', 'members', at, field],
    msg,
    type,
    ctx: {},
  });
  const issues = found.flatMap(({ ad_kind, identity }, at) => [
    ...(at === cap ? [issue(at, 'identity', 'too_many_members', `The job can get at most ${cap} more members.`)] : []),
    ...(discovery?.ad_formats?.includes(ad_kind) === false
      ? [issue(at, 'ad_kind', 'format_not_wanted', `The sweep does not scan ads of the format ${ad_kind}.`)]
      : []),
    ...(identities.indexOf(identity) === at
      ? []
      : [issue(at, 'identity', 'duplicate_items', 'Another ad has this identity.')]),
  ]);
  if (!discovery || issues.length > 0) throw refused(issues.length > 0 ? issues : [NO_SWEEP]);
  return cap;
}

const NO_SWEEP: Issue = { loc: ['body', 'members'], msg: 'The job is no sweep.', type: 'too_many_members', ctx: {} };

/** The ads that are not named any more, but whose scans have a result: they still count. */
async function endedUnnamed(
  scans: Scans,
  ref: LeaseRef,
  { _id, found_ads }: ScanRecord,
  named: string[],
): Promise<string[]> {
  const unnamed = (found_ads?.identities ?? []).filter((identity) => !named.includes(identity));
  const read = unnamed.map((identity) => scans.findMember(ref, childScanId(_id, { identity })));
  const children = await Promise.all(read);
  return unnamed.filter((_, at) => hasResult(children[at] ?? null));
}

const hasResult = (child: ScanRecord | null): boolean =>
  child !== null && !isOpen(child.status) && !(child.status === 'failed' && isOurFault(child.error as FailureCode));

/**
 * The ads of a sweep once these were named, the first ones of them where it may not have all. `ended`: earlier ones
 * that still count. However often other ads are named, it has at most {@link AD_BLOCKS_MAX} in all, so that their
 * refunds are bounded. Pure.
 */
function adsAfter(before: FoundAds | undefined, ended: string[], named: string[], cap: number): FoundAds {
  const { identities: known, total: made, sequence } = before ?? { identities: [], total: 0, sequence: 0 };
  const identities = [...ended];
  let total = made;
  for (const identity of named) {
    const isNew = !known.includes(identity);
    if (identities.length >= cap || (isNew && total >= AD_BLOCKS_MAX)) continue;
    if (isNew) total += 1;
    identities.push(identity);
  }
  return { identities, total, sequence: sequence + 1 };
}
