import { setTimeout as sleep } from 'node:timers/promises';
import { packCapture, SENT_FILES_BYTES_MAX } from '@adsweep/shared/lease/capture-with-files.ts';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { CAPTURE_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { AT_ONCE, type Request, ROUNDS, TOGETHER } from '../hold-table.ts';
import { API_KEY, METRICS_TOKEN, NODE_TOKEN } from '../measured-services.ts';
import { worstBodies, worstCaptures } from '../worst-bodies.ts';
import { loadScan, startFiller } from './fill-organization.ts';
import type { Call } from './fill-resources.ts';
import { type Bench, callWith, nodeApiOf } from './measured-calls.ts';
import { requestsOf } from './requests-of-route.ts';
import type { BenchRoute } from './route-table.ts';

/** Longer than the control plane waits between two readings of the catalogue. */
const IDLE_MS = 65_000;

/** The bodies of the operations that send a capture, by the ends of their paths. */
const CAPTURE_BODIES: Record<string, (capture: unknown) => Request['body']> = {
  '/complete': (capture) => JSON.stringify({ capture }),
  '/complete-with-files': (capture) =>
    Buffer.from(
      packCapture(
        (files) => JSON.stringify({ capture, files }),
        [{ name: 'landing-0.jpeg', bytes: Buffer.alloc(SENT_FILES_BYTES_MAX) }],
      ),
    ),
};

const IDLE_NODE = { slots: 256, busy: 0, draining: false, adsweep_version: 'bench', browser_version: 'none' };
/**
 * Fewer than the leases in a row that a node may release before it is paused. A node that has lost some, as it does here
 * those that a request leaves open, is paused too: another one goes on.
 */
const LEASES_A_NODE = 100;

/** What the control plane does of itself while nothing is asked: it reads the catalogue, relays, cleans up. */
export async function measureIdle(bench: Bench): Promise<void> {
  if (!bench.isMeasured('idle')) return;
  const hold = await bench.services.control.longestHold(() => sleep(IDLE_MS));
  bench.table.note({
    ...{ surface: 'control plane', operation: 'no request', what: `${IDLE_MS / 1_000} s`, status: 200, bytes: 0 },
    ...{ seconds: IDLE_MS / 1_000, ...hold },
  });
}

export async function measureNodeApi(bench: Bench, routes: BenchRoute[]): Promise<void> {
  const node = new LeaseClient(nodeApiOf(bench.services), NODE_TOKEN);
  await node.report('bench', IDLE_NODE);
  let [nodes, leases] = [0, 0];
  const nextNode = async () => {
    nodes += 1;
    await node.report(`bench-${nodes}`, IDLE_NODE);
  };
  const newLease = async () => {
    if (leases++ % LEASES_A_NODE === 0) await nextNode();
    const scan = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'windows_chrome' };
    await callWith(bench, API_KEY, 'POST', '/api/v1/scans', scan);
    const acquire = async () => (await node.acquire({ node_id: `bench-${nodes}`, max: 1, wait_ms: 2_000 })).leases[0];
    const lease = (await acquire()) ?? (await nextNode().then(acquire));
    if (!lease) throw new Error('there was no lease');
    return lease;
  };
  const requestTo = async ({ method, path, permission }: BenchRoute, body: Request['body']): Promise<Request> => {
    const lease = permission === 'lease' ? await newLease() : null;
    const ids: Record<string, string> = {
      id: lease?.lease_id ?? 'bench',
      scan: lease?.job.job_id ?? '',
      name: 'documents',
    };
    const url = nodeApiOf(bench.services) + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '0');
    const request = {
      service: () => bench.services.control,
      surface: 'node API',
      method,
      url,
      key: lease?.token ?? NODE_TOKEN,
    };
    return { ...request, ...(body !== undefined && { body }) };
  };
  for (const route of routes.filter(({ path }) => bench.isMeasured(path))) {
    for (const { what, body } of requestsOf(route, {}, 1))
      await bench.table.measure(`${route.method} ${route.path}`, what, () => requestTo(route, body));
    for (const [what, capture] of Object.entries(worstCaptures(CAPTURE_BYTES_MAX)))
      for (const [path, body] of Object.entries(CAPTURE_BODIES))
        if (route.path.endsWith(path))
          await bench.table.measure(`${route.method} ${route.path}`, what, () => requestTo(route, body(capture)));
  }
}

/** The whole way of a scan with the longest capture, from its creation to its judgement by all rules. */
export async function measureJudgement(bench: Bench, call: Call): Promise<void> {
  if (!bench.isMeasured('judgement')) return;
  const node = await startFiller(nodeApiOf(bench.services), NODE_TOKEN);
  // Starts the threads, for an organization without rules.
  await loadScan((...request) => callWith(bench, API_KEY, ...request), node);
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    const hold = await bench.services.control.longestHold(() => loadScan(call, node));
    const seconds = (performance.now() - began) / 1_000;
    const what = round === 0 ? 'the first with these rules' : `round ${round}`;
    bench.table.note({
      surface: 'analysis',
      operation: 'judgement of a scan',
      what,
      status: 200,
      bytes: 0,
      seconds,
      ...hold,
    });
  }
}

/** The operations of the proxy-router's API, and what it answers to probes. */
export async function measureRouter(bench: Bench): Promise<void> {
  const router = (method: string, path: string, body?: string, key = NODE_TOKEN): Request => ({
    ...{
      service: () => bench.services.router,
      surface: 'proxy-router',
      method,
      url: `http://127.0.0.1:${bench.services.router.ports.api}${path}`,
      key,
    },
    ...(body !== undefined && { body }),
  });
  const targeting = { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' };
  const bodies = {
    ...worstBodies(65_536, 'targeting'),
    'a ticket': JSON.stringify({ targeting, scan_id: 'bench', session: 'bench', ttl_seconds: 60 }),
  };
  if (bench.isMeasured('/exits'))
    for (const [what, body] of Object.entries(bodies))
      await bench.table.measure('POST /exits', what, () => router('POST', '/exits', body));
  const reads = {
    '/catalogue': NODE_TOKEN,
    '/catalogue/times': NODE_TOKEN,
    '/overview': METRICS_TOKEN,
    '/metrics': METRICS_TOKEN,
    '/readyz': '',
  };
  for (const [path, key] of Object.entries(reads).filter(([one]) => bench.isMeasured(one))) {
    await bench.table.measure(`GET ${path}`, 'as it is', () => router('GET', path, undefined, key));
    await bench.table.measure(
      `GET ${path}`,
      `as it is, ${AT_ONCE} at once`,
      () => router('GET', path, undefined, key),
      TOGETHER,
    );
  }
  if (!bench.isMeasured('/exits')) return;
  const id = 'x'.repeat(8_000);
  await bench.table.measure('GET /exits/{ticket_id}/traffic', 'a long id', () => router('GET', `/exits/${id}/traffic`));
  await bench.table.measure('DELETE /exits/{ticket_id}', 'a long id', () => router('DELETE', `/exits/${id}`));
}
