import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { Acquire, Lease, NodeReport, Registered } from '@adsweep/shared/lease/messages.ts';

/** What a simulated node says of itself. */
export const REPORT: NodeReport = {
  slots: 32,
  busy: 0,
  draining: false,
  adsweep_version: 'test',
  browser_version: 'none',
};

/** A lease with its job's first member, the only one of most jobs: what is said of it is said of that member. */
export type LeaseOfFirst = Lease & { scan_id: string };

/** A node without a browser. It registers under each name that it asks for work by, unless the test has done so. */
export class SimulatedNode extends LeaseClient {
  readonly #registered = new Set<string>();

  override async report(nodeId: string, report: NodeReport): Promise<Registered> {
    const registered = await super.report(nodeId, report);
    this.#registered.add(nodeId);
    return registered;
  }

  override async acquire(request: Acquire, signal?: AbortSignal): Promise<{ leases: LeaseOfFirst[] }> {
    if (!this.#registered.has(request.node_id)) await this.report(request.node_id, REPORT);
    const { leases } = await super.acquire(request, signal);
    return { leases: leases.map((lease) => ({ ...lease, scan_id: lease.job.members[0]!.scan_id })) };
  }
}
