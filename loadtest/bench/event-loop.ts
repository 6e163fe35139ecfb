import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packCapture, SENT_FILES_BYTES_MAX } from '@adsweep/shared/lease/capture-with-files.ts';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { CAPTURE_BYTES_MAX } from '@adsweep/shared/limits.ts';
import {
  API_KEY,
  type Hold,
  METRICS_TOKEN,
  type MeasuredService,
  NODE_TOKEN,
  startServices,
} from './measured-services.ts';
import { barChart, machine, median, saveResult } from './report.ts';
import { type Filled, fillByApi, fillStore, loadScan, openFleet, startFiller } from './requests/fill-organization.ts';
import type { Call } from './requests/fill-resources.ts';
import { manyExits } from './requests/many-exits.ts';
import { pagesToMeasure, toolCall, worstForms, worstMessages } from './requests/page-requests.ts';
import { type KnownValues, requestsOf } from './requests/requests-of-route.ts';
import { type BenchRoute, readRouteTable } from './requests/route-table.ts';
import { worstBodies, worstCaptures } from './worst-bodies.ts';

/**
 * How long requests can block a service's event loop, and how much memory they take: an organization keeps the most that it may, and every
 * operation of the route table gets its worst bodies and queries, once alone and, if it only reads, eight times at once; so do the pages of the
 * console and the tools of assistants.
 *
 *     npm run bench event-loop -- [scans of the organization] [only operations whose path contains this] [folder]
 *
 * The filled organization is kept in the folder, and a later run begins with a copy of it: that measures a part of the operations in minutes.
 */
const [SCANS = '100000', ONLY = '', FOLDER = ''] = process.argv.slice(2);
/** Requests must not block an event loop for longer. */
const HOLD_MAX_MS = 50;
const GROWTH_MAX_BYTES = 200 * 1024 * 1024;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const ROUNDS = 3;
const AT_ONCE = 8;
/** An event stream stays open; everything else is to be answered within this time. */
const ANSWER_MS = 20_000;
const BREACHES_LISTED = 60;
/** Longer than the control plane waits between two readings of the catalogue. */
const IDLE_MS = 65_000;

type Request = {
  service: () => MeasuredService;
  surface: string;
  method: string;
  url: string;
  key: string;
  body?: string | Buffer<ArrayBuffer>;
  headers?: Record<string, string>;
};
type Answered = { status: number; bytes: number; seconds: number };
type Held = { surface: string; operation: string; what: string } & Answered & Hold;

/** The organization that is measured: its id, a key of it, and what it was filled with. */
type Kept = { client: { id: string; api_key: string }; filled: Filled };
const KEPT_FILE = 'filled.json';
const isKept = FOLDER !== '' && existsSync(join(FOLDER, KEPT_FILE));

const services = await startServices({}, isKept ? FOLDER : null, manyExits());
const api = () => `http://127.0.0.1:${services.control.ports.http}`;
const nodeApi = () => `http://127.0.0.1:${services.control.ports.node_api}`;
const routerApi = `http://127.0.0.1:${services.router.ports.api}`;
const control = () => services.control;

type Sent = Pick<Request, 'method' | 'url' | 'key' | 'body' | 'headers'>;
async function send({ method, url, key, body, headers: others }: Sent): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...others };
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const { byteLength } = await answer.arrayBuffer();
    return { status: answer.status, bytes: byteLength, seconds: seconds() };
  } catch {
    // No answer in time, or a connection that the service closed while the body was sent.
    return { status: 0, bytes: 0, seconds: seconds() };
  }
}

const held: Held[] = [];
const isMeasured = (path: string): boolean => path.includes(ONLY);

function breachesOf({ cpu, growth, bytes, status }: Held): string[] {
  return [
    ...(cpu > HOLD_MAX_MS ? ['hold'] : []),
    ...(growth > GROWTH_MAX_BYTES ? ['memory'] : []),
    ...(bytes > ANSWER_BYTES_MAX ? ['size'] : []),
    ...(status === 500 ? ['error'] : []),
  ];
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const row = (name: string, { what, status, cpu, clock, growth, bytes, seconds }: Held): string =>
  `| ${name} | ${what} | ${status} | ${cpu.toFixed(1)} | ${clock.toFixed(1)} | ${megabytes(growth)} | ${megabytes(bytes)} | ${seconds.toFixed(2)} |`;
/** Measures some rounds of a request, `atOnce` of them at the same time; each round builds a new one. */
async function measure(
  operation: string,
  what: string,
  prepare: () => Promise<Request> | Request,
  { rounds = ROUNDS, atOnce = 1 } = {},
): Promise<void> {
  const holds: Hold[] = [];
  let answered: Answered = { status: 0, bytes: 0, seconds: 0 };
  let surface = '';
  for (let round = 0; round < rounds; round++) {
    const request = await prepare();
    surface = request.surface;
    holds.push(
      await request.service().longestHold(async () => {
        const all = await Promise.all(Array.from({ length: atOnce }, () => send(request)));
        answered = all.reduce((one, other) => (other.seconds > one.seconds ? other : one));
      }),
    );
    // What is far from the limit, or was slow once, is not measured again.
    if (holds[0]!.cpu < HOLD_MAX_MS / 2 || answered.seconds > 2) break;
  }
  const middle = (of: keyof Hold) => median(holds.map((hold) => hold[of]));
  note({
    ...{ surface, operation, what },
    ...answered,
    clock: middle('clock'),
    cpu: middle('cpu'),
    growth: middle('growth'),
  });
}

function note(one: Held): void {
  held.push(one);
  const breaches = breachesOf(one);
  if (breaches.length > 0) console.log(row(`${breaches.join(', ')}: ${one.operation}`, one));
}

async function callWith(key: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(api() + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null,
  };
}
const asOperator: Call = (...request) => callWith(API_KEY, ...request);

/** The largest item that a list answers with; null if the path is no list. */
async function largestItem(
  key: string,
  path: string,
): Promise<{ item: Record<string, unknown> | null; pages: number }> {
  const { status, body } = await callWith(key, 'GET', path);
  const items: Record<string, unknown>[] = status !== 200 ? [] : Array.isArray(body) ? body : (body?.items ?? []);
  const size = (one: unknown) => JSON.stringify(one).length;
  const item = items.reduce<Record<string, unknown> | null>(
    (one, other) => (one && size(one) >= size(other) ? one : other),
    null,
  );
  return { item, pages: Number(body?.pages ?? 1) };
}

/** The path with an id of the largest item in place of each parameter. */
async function pathOf(route: BenchRoute, key: string, known: KnownValues): Promise<string> {
  let path = route.path;
  for (let name = /\{(\w+)\}/.exec(path); name; name = /\{(\w+)\}/.exec(path)) {
    const { item } = await largestItem(key, path.slice(0, name.index - 1));
    const value = item?.[name[1]!] ?? item?.id ?? item?.slug ?? item?.node_id ?? known[name[1]!] ?? '0';
    path = path.replace(name[0], encodeURIComponent(String(value)));
  }
  return path;
}

/** Reads first, then changes, and removals at the end. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

async function measureApi(routes: BenchRoute[], clientKey: string, known: KnownValues): Promise<void> {
  const reportFleet = openFleet(nodeApi(), NODE_TOKEN);
  const ordered = routes.toSorted((one, other) => ORDER.indexOf(one.method) - ORDER.indexOf(other.method));
  for (const route of ordered.filter(({ path }) => isMeasured(path))) {
    const isOperators = /^(organizations|fleet)\./.test(route.permission);
    const key = isOperators ? API_KEY : clientKey;
    const path = await pathOf(route, key, known);
    const pages =
      route.method === 'GET' && 'page' in route.query.properties
        ? (await largestItem(key, `${path}?limit=200`)).pages
        : 1;
    const operation = `${route.method} ${route.path}`;
    const began = performance.now();
    // Nodes that do not report are forgotten after half a minute.
    if (route.path.includes('/fleet')) await reportFleet();
    for (const { what, isCommon, query, body } of requestsOf(route, known, pages)) {
      const request = {
        service: control,
        surface: 'API',
        method: route.method,
        url: `${api()}${path}${query && `?${query}`}`,
        key,
      };
      await measure(operation, what, () => ({ ...request, ...(body !== undefined && { body }) }));
      if (route.method === 'GET' && isCommon)
        await measure(operation, `${what}, ${AT_ONCE} at once`, () => request, { rounds: 1, atOnce: AT_ONCE });
    }
    console.log(`${operation}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
}

/** The pages of the console that are read, each with the largest item, and its forms. */
async function measureConsole(key: string, known: KnownValues): Promise<void> {
  const paths = pagesToMeasure().filter(({ path }) => isMeasured(`/console${path}`));
  if (paths.length === 0 && !isMeasured('/console')) return;
  const origin = new URL(api()).origin;
  const signIn = async (credential: string) => {
    const body = new URLSearchParams({ key: credential });
    const answer = await fetch(`${api()}/console/sign-in`, {
      method: 'POST',
      headers: { origin },
      body,
      redirect: 'manual',
    });
    return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]!;
  };
  const [cookie, operators] = [await signIn(key), await signIn(API_KEY)];
  const request = { service: control, surface: 'console', method: 'GET', key: '' };
  for (const { path, list } of paths) {
    const isOperators = /^\/(fleet|organizations)/.test(path);
    const id = list === null ? known.run_id : (await largestItem(isOperators ? API_KEY : key, list)).item?.id;
    const url = `${api()}/console${path.replaceAll(/\{\w+\}/g, () => String(id ?? '0'))}`;
    const headers = { cookie: isOperators ? operators : cookie };
    for (const query of path === '/scans' || path === '/alerts' || path === '/campaigns' ? ['', '?limit=200'] : ['']) {
      const page = { ...request, url: url + query, headers };
      await measure(`GET /console${path}`, `as it is ${query}`, () => page);
      await measure(`GET /console${path}`, `${AT_ONCE} at once ${query}`, () => page, { rounds: 1, atOnce: AT_ONCE });
    }
  }
  const headers = { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' };
  for (const [what, body] of Object.entries(worstForms(1024 * 1024)))
    await measure('POST /console/scans/new', what, () => ({
      ...{ ...request, method: 'POST', url: `${api()}/console/scans/new`, headers, body },
    }));
}

/** The tools of assistants: those that read, with the largest items and pages, and messages that are too large. */
async function measureTools(routes: BenchRoute[], key: string, known: KnownValues): Promise<void> {
  if (!isMeasured('/mcp')) return;
  const headers = { accept: 'application/json, text/event-stream' };
  const request = { service: control, surface: 'MCP', method: 'POST', url: `${api()}/mcp`, key, headers };
  for (const [what, body] of Object.entries(worstMessages(1024 * 1024)))
    await measure('POST /mcp', what, () => ({ ...request, body }));
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    const isOperators = /^(organizations|fleet)\./.test(route.permission);
    const path = await pathOf(route, isOperators ? API_KEY : key, known);
    const query = {
      ...('limit' in route.query.properties && { limit: 50 }),
      ...(path.endsWith('/events') && { wait_seconds: 0 }),
    };
    const call = { ...request, key: isOperators ? API_KEY : key, body: toolCall(route, path, query) };
    await measure('POST /mcp', route.path, () => call);
    await measure('POST /mcp', `${route.path}, ${AT_ONCE} at once`, () => call, { rounds: 1, atOnce: AT_ONCE });
  }
}

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

/** What the control plane does of itself while nothing is asked: it reads the catalogue, relays, cleans up. */
async function measureIdle(): Promise<void> {
  if (!isMeasured('idle')) return;
  const hold = await services.control.longestHold(() => sleep(IDLE_MS));
  note({
    ...{ surface: 'control plane', operation: 'no request', what: `${IDLE_MS / 1_000} s`, status: 200, bytes: 0 },
    ...{ seconds: IDLE_MS / 1_000, ...hold },
  });
}

async function measureNodeApi(routes: BenchRoute[]): Promise<void> {
  const node = new LeaseClient(nodeApi(), NODE_TOKEN);
  await node.report('bench', {
    slots: 256,
    busy: 0,
    draining: false,
    adsweep_version: 'bench',
    browser_version: 'none',
  });
  const newLease = async () => {
    const scan = { url: 'https://shop.example/', country_code: 'US', emulator_id: 'windows_chrome' };
    await asOperator('POST', '/api/v1/scans', scan);
    const [lease] = (await node.acquire({ node_id: 'bench', max: 1, wait_ms: 5_000 })).leases;
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
    const url = nodeApi() + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '0');
    const request = { service: control, surface: 'node API', method, url, key: lease?.token ?? NODE_TOKEN };
    return { ...request, ...(body !== undefined && { body }) };
  };
  for (const route of routes.filter(({ path }) => isMeasured(path))) {
    for (const { what, body } of requestsOf(route, {}, 1))
      await measure(`${route.method} ${route.path}`, what, () => requestTo(route, body));
    for (const [what, capture] of Object.entries(worstCaptures(CAPTURE_BYTES_MAX)))
      for (const [path, body] of Object.entries(CAPTURE_BODIES))
        if (route.path.endsWith(path))
          await measure(`${route.method} ${route.path}`, what, () => requestTo(route, body(capture)));
  }
}

/** The whole way of a scan with the longest capture, from its creation to its judgement by all rules. */
async function measureJudgement(call: Call): Promise<void> {
  if (!isMeasured('judgement')) return;
  const node = await startFiller(nodeApi(), NODE_TOKEN);
  // Starts the threads, for an organization without rules.
  await loadScan(asOperator, node);
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    const hold = await services.control.longestHold(() => loadScan(call, node));
    const seconds = (performance.now() - began) / 1_000;
    const what = round === 0 ? 'the first with these rules' : `round ${round}`;
    note({ surface: 'analysis', operation: 'judgement of a scan', what, status: 200, bytes: 0, seconds, ...hold });
  }
}

/** The operations of the proxy-router's API, and what it answers to probes. */
async function measureRouter(): Promise<void> {
  const router = (method: string, path: string, body?: string, key = NODE_TOKEN): Request => ({
    ...{ service: () => services.router, surface: 'proxy-router', method, url: `${routerApi}${path}`, key },
    ...(body !== undefined && { body }),
  });
  const targeting = { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' };
  const bodies = {
    ...worstBodies(65_536, 'targeting'),
    'a ticket': JSON.stringify({ targeting, scan_id: 'bench', session: 'bench', ttl_seconds: 60 }),
  };
  if (isMeasured('/exits'))
    for (const [what, body] of Object.entries(bodies))
      await measure('POST /exits', what, () => router('POST', '/exits', body));
  const reads = { '/catalogue': NODE_TOKEN, '/overview': METRICS_TOKEN, '/metrics': METRICS_TOKEN, '/readyz': '' };
  for (const [path, key] of Object.entries(reads).filter(([one]) => isMeasured(one))) {
    await measure(`GET ${path}`, 'as it is', () => router('GET', path, undefined, key));
    const eight = { rounds: 1, atOnce: AT_ONCE };
    await measure(`GET ${path}`, `as it is, ${AT_ONCE} at once`, () => router('GET', path, undefined, key), eight);
  }
  if (!isMeasured('/exits')) return;
  const id = 'x'.repeat(8_000);
  await measure('GET /exits/{ticket_id}/traffic', 'a long id', () => router('GET', `/exits/${id}/traffic`));
  await measure('DELETE /exits/{ticket_id}', 'a long id', () => router('DELETE', `/exits/${id}`));
}

const readKept = (): Kept => JSON.parse(readFileSync(join(FOLDER, KEPT_FILE), 'utf8'));

async function fillOrganization(routes: BenchRoute[]): Promise<Kept> {
  const { body: client } = await asOperator('POST', '/api/v1/organizations', { name: 'The largest organization' });
  const asClient: Call = (...request) => callWith(client.api_key, ...request);
  const filled = await fillByApi(asClient, asOperator, routes, nodeApi(), NODE_TOKEN);
  console.log('the organization is filled by the API');
  await services.whileStopped(async () => {
    await fillStore(services.folder, client.id, filled, Number(SCANS));
    if (FOLDER === '') return;
    cpSync(services.folder, FOLDER, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    writeFileSync(join(FOLDER, KEPT_FILE), JSON.stringify({ client, filled }));
  });
  console.log(`it has ${SCANS} scans more`);
  return { client, filled };
}

try {
  const table = await readRouteTable(services.redis.url, services.folder);
  const { client, filled } = isKept ? readKept() : await fillOrganization(table.api);
  const asClient: Call = (...request) => callWith(client.api_key, ...request);
  const { body: scan } = await asClient('GET', `/api/v1/scans/${filled.scans[0]}`);
  const known = {
    ...{
      status: 'completed',
      country_code: 'US',
      tag: 'autosound',
      url: 'shop-77.example',
      campaign_id: filled.campaigns[0]!,
    },
    ...{ brand: 'acme', label: 'red', category: 'custom', country: 'US', scan_id: scan.id },
    run_id: String(scan.run_id),
    token: String(scan.public_report_url).split('/').at(-1)!,
  };
  await measureIdle();
  await measureJudgement(asClient);
  await measureApi(table.api, client.api_key, known);
  await measureConsole(client.api_key, known);
  await measureTools(table.api, client.api_key, known);
  await measureNodeApi(table.nodeApi);
  await measureRouter();
} finally {
  await services.stop();
}

const HEAD = [
  '| Operation | Request | Status | CPU ms | Clock ms | MiB | Answer MiB | Seconds |',
  '|---|---|--:|--:|--:|--:|--:|--:|',
];
const nameOf = ({ surface, operation }: Held): string => `${surface}: ${operation}`;

const worst = [...Map.groupBy(held, nameOf)]
  .map(([name, all]) => [name, all.reduce((a, b) => (b.cpu > a.cpu ? b : a))] as const)
  .toSorted(([, one], [, other]) => other.cpu - one.cpu);
const breaches = held.filter((one) => breachesOf(one).length > 0).toSorted((one, other) => other.cpu - one.cpu);
const longest = Math.max(...held.map(({ cpu }) => cpu));
saveResult('event-loop', [
  '# The longest hold of an event loop',
  `Every operation of the route table with its worst bodies and queries, of an organization that keeps the most that it may and ${Number(SCANS).toLocaleString('en')} common scans; reads also ${AT_ONCE} at once. How long the service's event loop was held in one piece, in ms of its thread's CPU and by the clock (which other work on the machine stretches), medians of ${ROUNDS} rounds, and by how much its memory grew. ${held.length} requests; the longest hold: ${longest.toFixed(0)} ms, ${longest <= HOLD_MAX_MS ? 'within' : 'above'} the limit of ${HOLD_MAX_MS} ms. Above a limit (${HOLD_MAX_MS} ms, ${megabytes(GROWTH_MAX_BYTES)} MiB of memory, ${megabytes(ANSWER_BYTES_MAX)} MiB of an answer) or answered with 500: ${breaches.length}.`,
  ...(breaches.length > 0
    ? [
        [
          '## Above a limit',
          '',
          ...HEAD,
          ...breaches
            .slice(0, BREACHES_LISTED)
            .map((one) => row(`${nameOf(one)} (${breachesOf(one).join(', ')})`, one)),
        ].join('\n'),
      ]
    : []),
  ['## The worst request of each operation', '', ...HEAD, ...worst.map(([name, one]) => row(name, one))].join('\n'),
  barChart(
    'Longest hold, CPU ms',
    worst.map(([name, { cpu }]) => [name, cpu]),
  ),
  `Machine: ${machine()}.`,
]);
if (breaches.length > 0) process.exitCode = 1;
