import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { reap } from '../../src/crawling/leases/reaper.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { captureOf, type RunningFarm } from './running-farm.ts';

/** The capture that a node of these tests sends. */
export const CAPTURE = captureOf(['https://shop.example/']);

/** Whether the node API refused a call with this status. */
export const refusedWith = (status: number) => (error: unknown) =>
  error instanceof NodeApiError && error.status === status;

/** A scan as a member of a lease. */
export const memberOf = (lease: Lease, { _id }: Pick<ScanRecord, '_id'>) => ({ ...lease, scan_id: _id });

/** The ids of the scans of a lease, and of records. */
export const scansOf = (lease: Lease) => lease.job.members.map(({ scan_id }) => scan_id);
export const idsOf = (scans: ScanRecord[]) => scans.map(({ _id }) => _id);

/** What a node does with the members of a job, and what becomes of them; `farm` returns the farm once it runs. */
export function jobMembers(farm: () => RunningFarm) {
  return {
    depth: () => farm().farm.queue.depth(),
    complete: (lease: Lease, scan: ScanRecord) => farm().node.complete(memberOf(lease, scan), CAPTURE),
    fail: (lease: Lease, scan: ScanRecord, code: 'navigation: DNS' | 'browser: CRASHED' = 'browser: CRASHED') =>
      farm().node.fail(memberOf(lease, scan), { code, cause: '', capture: null }),
    statusOf: async (scans: { _id: string }[]) =>
      (await Promise.all(scans.map(({ _id }) => farm().read(_id)))).map(({ status }) => status),
    /** The lease runs out, and its members are lost. */
    async lose({ job }: Lease): Promise<void> {
      await farm().expireLease(job.job_id);
      await reap(farm().farm.dependencies, new Date());
    },
  };
}
