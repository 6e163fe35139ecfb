import { isOpen } from '@adsweep/shared/scan/scan-status.ts';
import { changeScan } from '../../scan/change-scan.ts';
import { measureEnd } from '../../scan/measure-end.ts';
import { childScanId } from '../../scanning/scans/request/new-child-scan.ts';
import { discardEvidence } from '../captures/store-evidence.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import type { EndDependencies } from './end-attempt.ts';

export type GoneAdsDependencies = Pick<
  EndDependencies,
  'captures' | 'artifacts' | 'scans' | 'metrics' | 'outboxFilled' | 'logger'
>;

/**
 * Ends and refunds the scans of ads that the sweep of a job no longer names: they are not on its page any more. Those
 * that have a result keep it. Can be repeated.
 */
export async function endGoneAds(dependencies: GoneAdsDependencies, ref: LeaseRef, now: Date): Promise<void> {
  const { scans, metrics, outboxFilled } = dependencies;
  const sweep = await scans.findMember(ref, ref.jobId);
  const named = new Set(sweep?.found_ads?.identities.map((identity) => childScanId(ref.jobId, { identity })));
  for (const { _id, status } of await scans.membersOf(ref)) {
    if (!isOpen(status) || _id === ref.jobId || named.has(_id)) continue;
    const child = await scans.findMember(ref, _id);
    const ended = child && (await changeScan(scans, child, { type: 'gone' }, now));
    if (!ended) continue;
    if (child.lease) discardEvidence(dependencies, child, child.lease.fence);
    metrics.failedAttempts.inc({ code: 'ad_discovery: AD_GONE' });
    measureEnd(metrics, ended);
    outboxFilled();
  }
}
