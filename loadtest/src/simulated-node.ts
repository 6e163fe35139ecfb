import { setTimeout as pause } from 'node:timers/promises';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import {
  ACQUIRE_WAIT_MAX_MS,
  HEARTBEAT_EVERY_MS,
  type Lease,
  type NodeReport,
  RENEW_EVERY_MS,
} from '@adsweep/shared/lease/messages.ts';

/** A node without a browser. `captureMs` returns the duration of a capture; `leased` is called for each lease. */
export type NodePlan = {
  nodeId: string;
  nodeApiUrl: string;
  joinToken: string;
  slots: number;
  captureMs: () => number;
  leased: (lease: Lease) => void;
  timed: TimedCall;
  /** Drains the node: it takes no more work, and ends with its last capture. */
  draining?: AbortSignal;
};

export type NodeCall = 'report' | 'acquire' | 'renew' | 'complete';
/** Makes a call and may record its duration or error. */
export type TimedCall = <T>(call: NodeCall, make: () => Promise<T>) => Promise<T>;

const CAPTURE = emptyCapture({
  started_at: '2026-01-01T00:00:00.000Z',
  elapsed_ms: 1,
  browser: { name: 'none', version: '0' },
});
const REPORT: Omit<NodeReport, 'slots' | 'busy'> = {
  draining: false,
  adsweep_version: 'bench',
  browser_version: 'none',
};

/**
 * Uses the node API as a real node does, until it is stopped: registers, reports itself, claims as many jobs as it has free slots, renews
 * each lease, and completes it after its time. After a failed call, the node continues with the next one. Resolves once it is drained.
 */
export async function simulateNode(plan: NodePlan): Promise<void> {
  const { nodeId, slots, timed } = plan;
  const client = new LeaseClient(plan.nodeApiUrl, plan.joinToken);
  const running = new Set<Promise<void>>();
  const report = () => timed('report', () => client.report(nodeId, { ...REPORT, slots, busy: running.size }));
  const acquire = (max: number) =>
    timed('acquire', () => client.acquire({ node_id: nodeId, max, wait_ms: ACQUIRE_WAIT_MAX_MS }));

  await report();
  const heartbeat = setInterval(() => void report().catch(() => undefined), HEARTBEAT_EVERY_MS);
  while (!plan.draining?.aborted) {
    const free = slots - running.size;
    if (free === 0) {
      await Promise.race(running);
      continue;
    }
    const { leases } = await acquire(free).catch(() => pause(100, { leases: [] }));
    for (const lease of leases) {
      plan.leased(lease);
      const work = runLease(client, lease, plan.captureMs(), timed).finally(() => running.delete(work));
      running.add(work);
    }
  }
  await Promise.all(running);
  clearInterval(heartbeat);
}

async function runLease(client: LeaseClient, lease: Lease, captureMs: number, timed: TimedCall): Promise<void> {
  const renew = () => timed('renew', () => client.renew(lease));
  const renewing = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS);
  await pause(captureMs);
  for (const { scan_id } of lease.job.members)
    await timed('complete', () => client.complete({ ...lease, scan_id }, CAPTURE)).catch(() => undefined);
  clearInterval(renewing);
}
