import { LEASE_MS, type Renewed } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { FarmScans } from '../../scanning/scans/state/farm-scans.ts';
import type { ScanInQueue } from '../../scanning/scans/state/scan.ts';
import { nodeKeyOf } from '../fleet/node-credential.ts';
import { bandOf } from '../queue/enqueue-scan.ts';
import type { CrawlQueue, LeaseRef } from '../queue/queue.ts';

export type RenewDependencies = {
  queue: Pick<CrawlQueue, 'renew' | 'adopt'>;
  scans: Pick<FarmScans, 'findForWork'>;
  logger: Logger;
};

/**
 * Gives a lease its time again. Where Redis does not know it, or is away, the scan in MongoDB decides: a lease that it names is
 * adopted. While Redis is away nobody can reap, so that such an answer is safe.
 */
export async function renew({ queue, scans, logger }: RenewDependencies, ref: LeaseRef): Promise<Renewed> {
  const known = await queue.renew(ref).catch((cause: unknown) => {
    logger.debug({ scan_id: ref.scanId, cause }, 'a lease is renewed without redis');
    return false;
  });
  if (known) return { outcome: 'renewed', expires_in_ms: LEASE_MS };
  const scan = await scans.findForWork(ref.scanId);
  if (!scan || scan.status === 'cancelled') return { outcome: 'cancelled', expires_in_ms: 0 };
  if (scan.status !== 'running' || scan.lease?.fence !== ref.fence) return { outcome: 'lost', expires_in_ms: 0 };
  await adoptLease(queue, ref, scan).catch((cause: unknown) => {
    logger.debug({ scan_id: ref.scanId, cause }, 'a lease is not adopted yet');
  });
  return { outcome: 'renewed', expires_in_ms: LEASE_MS };
}

/** Puts the lease that a running scan names into Redis, with its full time to run; false where it is known already. */
export async function adoptLease(queue: Pick<CrawlQueue, 'adopt'>, ref: LeaseRef, scan: ScanInQueue): Promise<boolean> {
  const { node_id = '', instance = '' } = scan.lease ?? {};
  const nodeId = nodeKeyOf({ nodeId: node_id, instance });
  return queue.adopt(ref, { organizationId: scan.organization_id, band: bandOf(scan), nodeId });
}
