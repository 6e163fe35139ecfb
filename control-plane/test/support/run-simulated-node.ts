import { setTimeout as pause } from 'node:timers/promises';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { type MemberLease, NodeApiError } from '@adsweep/shared/lease/client.ts';
import { type Lease, RENEW_EVERY_MS } from '@adsweep/shared/lease/messages.ts';
import { type LeaseOfFirst, REPORT, SimulatedNode } from './simulated-node.ts';

/** A node without a browser: `urls` are those of the control planes, `random` answers numbers from 0 to 1. */
export type NodePlan = { nodeId: string; urls: string[]; joinToken: string; slots: number; random: () => number };

/** What every node sees. */
const CAPTURE = emptyCapture({
  started_at: '2026-01-02T03:04:05.000Z',
  elapsed_ms: 4_321,
  browser: { name: 'chromium', version: '1.2.3' },
});

/** How long a capture takes at most, in ms. */
const CAPTURE_MS = 400;
/** One lease in so many is forgotten, and one attempt in so many fails for the moment. */
const FORGOTTEN_ONE_IN = 60;
const FAILED_ONE_IN = 20;

/** Works until the process ends: each call goes to any of the control planes, and again to another one while nobody answers. */
export async function runSimulatedNode(plan: NodePlan): Promise<never> {
  const clients = plan.urls.map((url) => new SimulatedNode(url, plan.joinToken));
  const any = () => clients[Math.floor(plan.random() * clients.length)]!;
  const running = new Set<Promise<void>>();
  for (;;) {
    const max = Math.min(8, plan.slots - running.size);
    if (max === 0) await Promise.race(running);
    const client = any();
    await client.report(plan.nodeId, { ...REPORT, slots: plan.slots }).catch(() => undefined);
    const { leases } = await client
      .acquire({ node_id: plan.nodeId, max: Math.max(1, max), wait_ms: 2_000 })
      .catch(() => pause(50, { leases: [] as LeaseOfFirst[] }));
    for (const lease of leases) {
      const work = runLease(plan, any, lease).finally(() => running.delete(work));
      running.add(work);
    }
  }
}

async function runLease({ random }: NodePlan, any: () => SimulatedNode, lease: Lease): Promise<void> {
  const isFirstTry = lease.job.isolation === 'shared';
  if (isFirstTry && random() * FORGOTTEN_ONE_IN < 1) return;
  const renew = () =>
    void any()
      .renew(lease)
      .catch(() => undefined);
  const renewing = setInterval(renew, RENEW_EVERY_MS);
  try {
    for (const { scan_id } of lease.job.members) {
      await pause(random() * CAPTURE_MS);
      const member = { ...lease, scan_id };
      const hasFailed = random() * FAILED_ONE_IN < 1;
      if (!(await isReported(random, () => report(any(), member, hasFailed)))) return;
    }
  } finally {
    clearInterval(renewing);
  }
}

const report = (client: SimulatedNode, member: MemberLease, hasFailed: boolean): Promise<void> =>
  hasFailed
    ? client.fail(member, { code: 'browser: CRASHED', cause: 'a test', capture: null })
    : client.complete(member, CAPTURE);

/** Calls until it is answered for good; false where the lease is lost. */
async function isReported(random: () => number, call: () => Promise<void>): Promise<boolean> {
  for (;;) {
    try {
      await call();
      return true;
    } catch (error) {
      if (error instanceof NodeApiError && error.status === 409) return false;
      await pause(20 + random() * 80);
    }
  }
}
