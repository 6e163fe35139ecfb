import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { Acquire, Acquired, NodeReport } from '@adsweep/shared/lease/messages.ts';

/** What a simulated node says of itself. */
export const REPORT: NodeReport = {
  slots: 32,
  busy: 0,
  draining: false,
  adsweep_version: 'test',
  browser_version: 'none',
};

/** A node without a browser. It registers under each name that it asks for work by, unless the test has done so. */
export class SimulatedNode extends LeaseClient {
  readonly #registered = new Set<string>();

  override async report(nodeId: string, report: NodeReport): Promise<void> {
    await super.report(nodeId, report);
    this.#registered.add(nodeId);
  }

  override async acquire(request: Acquire, signal?: AbortSignal): Promise<Acquired> {
    if (!this.#registered.has(request.node_id)) await this.report(request.node_id, REPORT);
    return super.acquire(request, signal);
  }
}
