import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { DOCUMENTS } from '@adsweep/shared/capture/artifacts.ts';
import { emptyCapture } from '@adsweep/shared/capture/capture.ts';
import { type MemberLease, NodeApiError } from '@adsweep/shared/lease/client.ts';
import { type Lease, RENEW_EVERY_MS } from '@adsweep/shared/lease/messages.ts';
import { loadThroughExit } from './load-through-exit.ts';
import { SITE_URL } from './router-pair.ts';
import { type LeaseOfFirst, REPORT, SimulatedNode } from './simulated-node.ts';

/**
 * A node without a browser: `urls` are those of the control planes, `random` answers numbers from 0 to 1. With a
 * `routerUrl` it loads a page through an exit for each member, and uploads a file; '': neither.
 */
export type NodePlan = {
  nodeId: string;
  urls: string[];
  joinToken: string;
  slots: number;
  routerUrl: string;
  random: () => number;
};

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

/**
 * Works until the process ends: each call goes to any of the control planes, and again to another one while nobody
 * answers.
 */
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

async function runLease(plan: NodePlan, any: () => SimulatedNode, lease: Lease): Promise<void> {
  const { random, routerUrl } = plan;
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
      if (routerUrl !== '') {
        const load = () =>
          loadThroughExit(routerUrl, plan.joinToken, SITE_URL, `${scan_id}-${Math.floor(random() * 1e9)}`);
        await isDone(random, load);
      }
      const send = hasFailed ? fail : routerUrl === '' ? complete : completeWithUpload;
      if (!(await isDone(random, () => send(any(), member)))) return;
    }
  } finally {
    clearInterval(renewing);
  }
}

type Send = (client: SimulatedNode, member: MemberLease) => Promise<void>;

const fail: Send = (client, member) =>
  client.fail(member, { code: 'browser: CRASHED', cause: 'a test', capture: null });

const complete: Send = (client, member) => client.complete(member, CAPTURE);

const DOCUMENT = { landing: 0, frame: '', title: 'T', text: 'Hello', html: '<p>Hello</p>' };

/** Every file is another one: it names its scan. */
const completeWithUpload: Send = async (client, member) => {
  const bytes = gzipSync(JSON.stringify([{ ...DOCUMENT, url: `${SITE_URL}${member.scan_id}` }]));
  const { sha256 } = await client.upload(member, DOCUMENTS, 'application/gzip', bytes);
  const file = {
    ...{ name: DOCUMENTS, sha256, bytes: bytes.length },
    content_type: 'application/gzip',
    width: 0,
    height: 0,
  };
  await client.complete(member, { ...CAPTURE, artifacts: [file] });
};

/** Calls until it is answered for good; false where the lease is lost. */
async function isDone(random: () => number, call: () => Promise<void>): Promise<boolean> {
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
