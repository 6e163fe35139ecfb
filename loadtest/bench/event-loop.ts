import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { API_BODY_BYTES_MAX, CAPTURE_BYTES_MAX } from '@adsweep/shared/limits.ts';
import { API_KEY, type Hold, type MeasuredService, NODE_TOKEN, startServices } from './measured-services.ts';
import { barChart, machine, median, saveResult } from './report.ts';
import { worstBodies, worstCaptures } from './worst-bodies.ts';

/**
 * How long a single request can block a service's event loop: every operation with a body gets the worst bodies that it accepts, one after
 * the other, and every one with a query the longest query.
 */
/** A request must not block an event loop for longer. */
const HOLD_MAX_MS = 50;
const ROUNDS = 5;
const QUERY_BYTES = 14_000;

type Hostile = { service: MeasuredService; surface: string; method: string; url: string; key: string; body?: string };
type Held = { surface: string; operation: string; what: string; status: number } & Hold;

const services = await startServices();
const { control, router } = services;
const api = `http://127.0.0.1:${control.ports.http}`;
const nodeApi = `http://127.0.0.1:${control.ports.node_api}`;
const routerApi = `http://127.0.0.1:${router.ports.api}`;

async function send({ method, url, key, body }: Omit<Hostile, 'service' | 'surface'>): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  await answer.arrayBuffer();
  return answer;
}

const node = new LeaseClient(nodeApi, NODE_TOKEN);
const NODE = { slots: 256, busy: 0, draining: false, adsweep_version: 'bench', browser_version: 'none' };
await node.report('bench', NODE);

/** The path of a scan that was just created, under its lease, and the token of that lease. */
async function newLease(): Promise<{ path: string; token: string }> {
  const scan = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'windows_chrome' };
  await send({ method: 'POST', url: `${api}/api/v1/scans`, key: API_KEY, body: JSON.stringify(scan) });
  const { leases } = await node.acquire({ node_id: 'bench', max: 1, wait_ms: 5_000 });
  const [lease] = leases;
  if (!lease) throw new Error('there was no lease');
  return { path: `/leases/${lease.lease_id}/scans/${lease.job.job_id}`, token: lease.token };
}

/** The median of the longest holds of some rounds; each round builds a new request. */
async function measure(operation: string, what: string, prepare: () => Promise<Hostile> | Hostile): Promise<Held> {
  const holds: Hold[] = [];
  let status = 0;
  let surface = '';
  for (let round = 0; round < ROUNDS; round++) {
    const request = await prepare();
    surface = request.surface;
    holds.push(
      await request.service.longestHold(async () => {
        status = (await send(request)).status;
      }),
    );
  }
  const [clock, cpu] = [median(holds.map((hold) => hold.clock)), median(holds.map((hold) => hold.cpu))];
  return { surface, operation, what, status, clock, cpu };
}

const held: Held[] = [];
try {
  const apiRequest = (method: string, path: string, body?: string): Hostile => ({
    service: control,
    surface: 'API',
    method,
    url: api + path,
    key: API_KEY,
    body,
  });
  for (const [what, body] of Object.entries(worstBodies(API_BODY_BYTES_MAX, 'ad_formats')))
    held.push(await measure('POST /api/v1/scans', what, () => apiRequest('POST', '/api/v1/scans', body)));

  const names = Array.from({ length: QUERY_BYTES / 7 }, (_, at) => `p${at}`).join('&');
  const again = 'status=a&'.repeat(QUERY_BYTES / 9);
  for (const path of [
    '/api/v1/scans',
    '/api/v1/proxy/targeting',
    '/api/v1/billing/history',
    '/r/0123456789abcdef012345',
  ])
    for (const [what, query] of [
      ['a query of many names', names],
      ['a query of one name', again],
    ] as const)
      held.push(await measure(`GET ${path}`, what, () => apiRequest('GET', `${path}?${query.slice(0, QUERY_BYTES)}`)));

  const nodeRequest = (method: string, path: string, key: string, body: string): Hostile => ({
    service: control,
    surface: 'node API',
    method,
    url: `${nodeApi}/node/v1${path}`,
    key,
    body,
  });
  for (const [what, body] of Object.entries(worstBodies(API_BODY_BYTES_MAX, 'node_id'))) {
    held.push(await measure('PUT nodes/{id}', what, () => nodeRequest('PUT', '/nodes/bench', NODE_TOKEN, body)));
    held.push(
      await measure('POST leases/acquire', what, () => nodeRequest('POST', '/leases/acquire', NODE_TOKEN, body)),
    );
  }
  const { path: leased, token } = await newLease();
  const wrap = (body: string) => `{"capture":${body}}`;
  for (const [what, body] of Object.entries(worstBodies(CAPTURE_BYTES_MAX, 'requests')))
    for (const verb of ['complete', 'fail'])
      held.push(
        await measure(`POST leases/{id}/scans/{scan}/${verb}`, what, () =>
          nodeRequest('POST', `${leased}/${verb}`, token, wrap(body)),
        ),
      );
  for (const [what, capture] of Object.entries(worstCaptures(CAPTURE_BYTES_MAX))) {
    const body = JSON.stringify({ capture });
    held.push(
      await measure('POST leases/{id}/scans/{scan}/complete', what, async () => {
        const lease = await newLease();
        return nodeRequest('POST', `${lease.path}/complete`, lease.token, body);
      }),
    );
  }
  for (const [what, body] of Object.entries(worstBodies(65_536, 'targeting')))
    held.push(
      await measure('POST /exits', what, () => ({
        service: router,
        surface: 'proxy-router',
        method: 'POST',
        url: `${routerApi}/exits`,
        key: NODE_TOKEN,
        body,
      })),
    );
} finally {
  await services.stop();
}

const worst = [...Map.groupBy(held, ({ surface, operation }) => `${surface}: ${operation}`)].map(
  ([name, all]) => [name, all.reduce((a, b) => (b.cpu > a.cpu ? b : a))] as const,
);
const longest = Math.max(...held.map(({ cpu }) => cpu));
saveResult('event-loop', [
  '# The longest hold of an event loop',
  `The worst bodies and queries that each operation reads (1 MiB; 4 MiB where a capture is; 64 KiB at the proxy-router), one at a time; how long the service's event loop was held in one piece, in ms of its thread's CPU and by the clock (which other work on the machine stretches), medians of ${ROUNDS} rounds. The longest of all: ${longest.toFixed(0)} ms, ${longest < HOLD_MAX_MS ? 'below' : 'above'} the limit of ${HOLD_MAX_MS} ms.`,
  [
    '| Operation | Worst request | Status | CPU ms | Clock ms |',
    '|---|---|--:|--:|--:|',
    ...worst.map(
      ([name, { what, status, cpu, clock }]) =>
        `| ${name} | ${what} | ${status} | ${cpu.toFixed(1)} | ${clock.toFixed(1)} |`,
    ),
  ].join('\n'),
  barChart(
    'Longest hold, CPU ms',
    worst.map(([name, { cpu }]) => [name, cpu]),
  ),
  `Machine: ${machine()}.`,
]);
if (longest >= HOLD_MAX_MS) process.exitCode = 1;
