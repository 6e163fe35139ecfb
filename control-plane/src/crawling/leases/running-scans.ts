import { runsUnder } from '../../scan/advance.ts';
import type { ScanInQueue, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';

/** Running scans in memory at a time. */
const PAGE = 500;

/** All running scans, a page at a time. */
export async function* pagesOfRunning(scans: Pick<ScanStore, 'pageInStatus'>): AsyncGenerator<ScanInQueue[]> {
  for (let last = '', more = true; more; ) {
    const running = await scans.pageInStatus('running', last, PAGE);
    yield running;
    more = running.length === PAGE;
    last = running.at(-1)?._id ?? '';
  }
}

/** The members that run under a lease. */
export async function membersUnder(
  scans: Pick<ScanStore, 'membersOf' | 'findMember'>,
  ref: LeaseRef,
): Promise<ScanRecord[]> {
  const running = (await scans.membersOf(ref)).filter((member) => runsUnder(member, ref.fence));
  const read = await Promise.all(running.map(({ _id }) => scans.findMember(ref, _id)));
  return read.filter((scan) => scan !== null);
}
