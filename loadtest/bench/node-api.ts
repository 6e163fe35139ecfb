import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { openRedis, redisReady } from '../../control-plane/src/platform/redis.ts';
import type { NodeCall } from '../src/simulated-node.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { API_KEY, NODE_TOKEN, startServices } from './measured-services.ts';
import { barChart, machine, median, saveResult } from './report.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/** The load that the node API handles with 200 nodes of 4 slots on one machine, and the cost of these nodes while idle. */
const [NODES, SLOTS] = [200, 4];
const CAPTURE_MS: [least: number, most: number] = [20_000, 40_000];
/** After this time since all slots were taken, captures end at evenly distributed times. */
const RAMP_MS = 25_000;
const LOAD_MS = 40_000;
const IDLE_MS = 20_000;
const SINGLES = 100;
/** More than the slots can do in that time. */
const BACKLOG = Math.ceil(((RAMP_MS + LOAD_MS) / ((CAPTURE_MS[0] + CAPTURE_MS[1]) / 2) + 0.5) * NODES * SLOTS);
const REPEATS = 20;
const CREATED_AT_ONCE = 4;
const CALLS: NodeCall[] = ['acquire', 'renew', 'complete', 'report'];

const services = await startServices();
const redis = openRedis(services.redis.url, createLogger('bench', 'silent'));
await redisReady(redis, 5_000);
const { http, node_api } = services.control.ports;
let fleet: SimulatedFleet | null = null;

/** When each job was leased last; a lease may be known before the answer to its POST. */
const leasedSince = new Map<string, number>();
let leasedJob: (jobId: string) => void = () => undefined;
function onLeased(jobId: string): void {
  leasedSince.set(jobId, performance.now());
  leasedJob(jobId);
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init = { method, headers: { authorization: `Bearer ${API_KEY}` }, body: body ? JSON.stringify(body) : null };
  const answer = await fetch(`http://127.0.0.1:${http}/api/v1${path}`, init);
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

const [geo] = await call<{ country_code: string }[]>('GET', '/geos');
const PAGE = { url: 'https://shop.example/', country_code: geo?.country_code, emulator_id: 'windows_chrome' };

/** Creates `count` scans, in groups of repeats. */
async function createScans(count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    for (; left > 0; left -= REPEATS) await call('POST', '/scans', { ...PAGE, repeat_count: REPEATS });
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, worker));
}

const scansIn = async (statuses: string): Promise<number> =>
  (await call<{ total: number }>('GET', `/scans?status=${statuses}&limit=1`)).total;

const redisCommands = async (): Promise<number> =>
  Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);

/** Resources and calls during `work`; CPU in cores, rates per second. */
async function measure(work: () => Promise<unknown>) {
  const { control, redis: server } = services;
  const cpu = () => [control.pid, server.pid, fleet!.process.pid!].map(cpuSecondsOfTree);
  fleet!.reset();
  const [began, before, commands, leased] = [performance.now(), cpu(), await redisCommands(), leasedSince.size];
  const hold = await control.longestHold(work);
  const seconds = (performance.now() - began) / 1000;
  return {
    seconds,
    cores: cpu().map((now, at) => (now - before[at]!) / seconds),
    claims: (leasedSince.size - leased) / seconds,
    commands: ((await redisCommands()) - commands) / seconds,
    hold: hold.clock,
    times: await fleet!.read(),
  };
}
type Measured = Awaited<ReturnType<typeof measure>>;

/** How long a scan waits that is created while all nodes wait, in ms from its POST to its lease at a node. */
async function singleMs(): Promise<number> {
  const sent = performance.now();
  const { id } = await call<{ id: string }>('POST', '/scans', PAGE);
  while (!leasedSince.has(id))
    await new Promise<void>((resolve) => {
      leasedJob = () => resolve();
    });
  return leasedSince.get(id)! - sent;
}

const percentile = (sorted: number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
const number = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));
const line = (name: string, values: number[]): string => `| ${name} | ${values.map(number).join(' | ')} |`;

const callRow = ({ times, seconds }: Measured, name: NodeCall): string => {
  const { ms, errors } = times[name] ?? { ms: [], errors: [] };
  return line(name, [ms.length / seconds, median(ms), percentile(ms, 0.99), ms.at(-1) ?? 0, errors.length]);
};
const usageRow = (name: string, { cores, times, seconds, commands, hold }: Measured): string => {
  const calls = Object.values(times).reduce((sum, { ms }) => sum + ms.length, 0) / seconds;
  return line(name, [...cores, calls, commands, hold]);
};

try {
  await createScans(BACKLOG);
  const address = { nodeApiUrl: `http://127.0.0.1:${node_api}`, joinToken: NODE_TOKEN };
  fleet = new SimulatedFleet(
    { prefix: 'bench', nodes: NODES, slots: SLOTS, captureMs: CAPTURE_MS, ...address },
    onLeased,
  );
  while (leasedSince.size < NODES * SLOTS) await pause(100);
  await pause(RAMP_MS);
  const load = await measure(() => pause(LOAD_MS));
  if ((await scansIn('pending')) === 0) throw new Error('the backlog was too small');
  while ((await scansIn('pending,running,crawled,checking')) > 0) await pause(500);
  const idle = await measure(() => pause(IDLE_MS));
  const singles: number[] = [];
  const one = await measure(async () => {
    for (let count = 0; count < SINGLES; count += 1) singles.push(await singleMs());
  });
  singles.sort((a, b) => a - b);
  const errors = [load, idle, one].flatMap(({ times }) => Object.values(times).flatMap((each) => each.errors));
  const answers = (one.times.acquire?.ms.length ?? 0) / SINGLES;
  saveResult('node-api', [
    `# The node API with ${NODES} nodes`,
    `${machine()}. ${NODES} simulated nodes of ${SLOTS} slots, all in one process beside one control plane with every role, on the embedded store, and its Redis, on the same machine. A capture takes ${CAPTURE_MS[0] / 1000}-${CAPTURE_MS[1] / 1000} s and brings nothing; leases are renewed every 3 s and nodes report every 5 s, as real ones do. Under load for ${LOAD_MS / 1000} s, while more jobs waited than there were slots, ${number(load.claims)} jobs a second were claimed, and ${number((load.times.complete?.ms.length ?? 0) / load.seconds)} completed. Milliseconds of a call as the nodes see them:`,
    [
      '| call | a second | median | p99 | longest | errors |',
      '|---|--:|--:|--:|--:|--:|',
      ...CALLS.map((name) => callRow(load, name)),
    ].join('\n'),
    barChart(
      'p99 of a call, ms',
      CALLS.map((name) => [name, percentile(load.times[name]?.ms ?? [], 0.99)]),
    ),
    'What that takes: CPU in cores, calls of the node API and Redis commands a second, and the longest hold of the control plane’s event loop in ms:',
    [
      '| | control plane | Redis | the nodes | calls | Redis commands | longest hold |',
      '|---|--:|--:|--:|--:|--:|--:|',
      usageRow('under load', load),
      usageRow('all nodes wait', idle),
      usageRow('scans one by one', one),
    ].join('\n'),
    `While all nodes waited, ${SINGLES} scans were created one after the other: ${number(median(singles))} ms (median) and ${number(percentile(singles, 0.99))} ms (p99) from the POST to the lease at a node, and ${number(answers)} answers to \`acquire\` for each, among them those of nodes that had waited for 25 s.`,
    errors.length === 0
      ? 'No call failed.'
      : `${errors.length} calls failed: ${[...new Set(errors)].slice(0, 3).join('; ')}`,
  ]);
  if (errors.length > 0) process.exitCode = 1;
} finally {
  await fleet?.kill();
  redis.disconnect();
  await services.stop();
}
