import type { InternalScans } from '../../scan/internal-scans.ts';
import type { MarkedNodes } from '../fleet/marked-nodes.ts';
import { type EndDependencies, releaseLease } from './end-attempt.ts';
import { leaseRefOf } from './renew.ts';

export type BlockDependencies = EndDependencies & {
  blocked: Pick<MarkedNodes, 'add'>;
  scans: EndDependencies['scans'] & Pick<InternalScans, 'pageInStatus'>;
};

const PAGE = 500;

/**
 * Blocks a node by its name, whichever processes have it: its calls are answered 403, and its leases go back to the queue at once. A lease
 * that is being given to it at the same time is released by the process that gives it.
 */
export async function blockNode(dependencies: BlockDependencies, nodeId: string, now: Date): Promise<void> {
  const { blocked, scans, logger } = dependencies;
  await blocked.add(nodeId, now);
  let requeued = 0;
  for (let last = '', more = true; more; ) {
    const running = await scans.pageInStatus('running', last, PAGE);
    for (const scan of running) {
      const ref = scan.lease?.node_id === nodeId ? leaseRefOf(scan) : null;
      if (ref && (await releaseLease(dependencies, ref, now)) === 'ended') requeued += 1;
    }
    more = running.length === PAGE;
    last = running.at(-1)?._id ?? '';
  }
  logger.warn({ node_id: nodeId, requeued }, 'a node was blocked');
}
