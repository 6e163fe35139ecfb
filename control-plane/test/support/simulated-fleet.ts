import { setTimeout as pause } from 'node:timers/promises';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { RENEW_EVERY_MS } from '@adsweep/shared/lease/messages.ts';
import { captureOf } from './running-farm.ts';
import { type LeaseOfFirst, REPORT, SimulatedNode } from './simulated-node.ts';

/** How a fleet behaves: chances are from 0 to 1, `random` answers numbers of that range. */
export type FleetPlan = { urls: string[]; joinToken: string; nodes: number; slots: number; random: () => number };

/** How long a capture takes at most, in ms. */
const CAPTURE_MS = 400;
/** One lease in so many is forgotten, as by a node that died. */
const FORGOTTEN_ONE_IN = 40;

/**
 * Nodes without browsers that work until `stopping` is aborted: each call goes to any of the control planes, and again to another one
 * while nobody answers. Some leases are forgotten, those of jobs that have not been tried before.
 */
export async function runSimulatedFleet(plan: FleetPlan, stopping: AbortSignal): Promise<void> {
  const node = (index: number) => runNode(plan, `node-${index}`, stopping);
  await Promise.all(Array.from({ length: plan.nodes }, (_, index) => node(index)));
}

async function runNode(plan: FleetPlan, nodeId: string, stopping: AbortSignal): Promise<void> {
  const clients = plan.urls.map((url) => new SimulatedNode(url, plan.joinToken));
  const any = () => clients[Math.floor(plan.random() * clients.length)]!;
  const running = new Set<Promise<void>>();
  while (!stopping.aborted) {
    const max = Math.min(8, plan.slots - running.size);
    if (max === 0) await Promise.race(running);
    const client = any();
    await client.report(nodeId, { ...REPORT, slots: plan.slots }).catch(() => undefined);
    const { leases } = await client
      .acquire({ node_id: nodeId, max: Math.max(1, max), wait_ms: 2_000 }, stopping)
      .catch(() => pause(50, { leases: [] as LeaseOfFirst[] }));
    for (const lease of leases) {
      const work = capture(plan, any, lease, stopping).finally(() => running.delete(work));
      running.add(work);
    }
  }
  await Promise.all(running);
}

async function capture(
  plan: FleetPlan,
  any: () => SimulatedNode,
  lease: LeaseOfFirst,
  stopping: AbortSignal,
): Promise<void> {
  const isFirstTry = lease.job.isolation === 'shared';
  if (isFirstTry && plan.random() * FORGOTTEN_ONE_IN < 1) return;
  const renewing = setInterval(
    () =>
      void any()
        .renew(lease)
        .catch(() => undefined),
    RENEW_EVERY_MS,
  );
  try {
    await pause(plan.random() * CAPTURE_MS);
    const seen = captureOf(['https://shop.example/']);
    while (!stopping.aborted && !(await isOver(any().complete(lease, seen)))) await pause(20 + plan.random() * 80);
  } finally {
    clearInterval(renewing);
  }
}

/** Whether a call was answered for good: done, or the lease is lost. */
const isOver = (call: Promise<void>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => error instanceof NodeApiError && error.status < 500,
  );
