import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { openRedis, type RedisClient, redisReady } from '../../control-plane/src/platform/redis.ts';
import type { CallTimes } from '../src/call-times.ts';
import type { FleetTimes } from '../src/fleet-process.ts';
import type { NodeCall } from '../src/simulated-node.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { API_KEY, NODE_TOKEN, startServices } from './measured-services.ts';
import { barChart, figure, machine, median, percentile, saveResult } from './report.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/**
 * The load that the node API handles with 200 nodes of 4 slots on one machine, and the cost of these nodes while idle; then fleets of other
 * sizes, of which the largest without a failed call and with renewals in time counts.
 *
 *     npm run bench node-api -- [nodes] [further numbers of nodes, separated by commas]
 */
const NODES = Number(process.argv[2] ?? 200);
const FURTHER = (process.argv[3] ?? '').split(',').filter(Boolean).map(Number);
const SLOTS = 4;
/** Renewals must be answered within this, at the 99th percentile: a lease lives ten seconds. */
const RENEW_MS_MAX = 1_000;
const CAPTURE_MS: [least: number, most: number] = [20_000, 40_000];
/** After this time since all slots were taken, captures end at evenly distributed times. */
const RAMP_MS = 25_000;
const LOAD_MS = 40_000;
const IDLE_MS = 20_000;
const SINGLES = 100;
const CAPTURE_MEAN_MS = (CAPTURE_MS[0] + CAPTURE_MS[1]) / 2;
/** More than the slots of so many nodes can do in that time: the first of each slot, those that follow, and some to be left. */
const backlogOf = (nodes: number) => Math.ceil(((RAMP_MS + LOAD_MS) / CAPTURE_MEAN_MS + 1.5) * nodes * SLOTS);
const REPEATS = 20;
const CREATED_AT_ONCE = 4;
const CALLS: NodeCall[] = ['acquire', 'renew', 'complete', 'report'];

type Measured = {
  seconds: number;
  /** Control plane, Redis and the nodes, in cores. */
  cores: number[];
  claims: number;
  commands: number;
  hold: number;
  times: FleetTimes;
};

/** A control plane with a fleet of so many nodes, and a backlog of scans that they work off. */
class LoadedPlane {
  readonly #services: Awaited<ReturnType<typeof startServices>>;
  readonly #redis: RedisClient;
  #fleet: SimulatedFleet | null = null;
  /** When each job was leased last; a lease may be known before the answer to its POST. */
  readonly #leasedSince = new Map<string, number>();
  #leasedJob: (jobId: string) => void = () => undefined;
  #page: object = {};

  private constructor(services: Awaited<ReturnType<typeof startServices>>, redis: RedisClient) {
    this.#services = services;
    this.#redis = redis;
  }

  /** Starts them; resolves when all slots are taken and captures end at evenly distributed times. */
  static async start(nodes: number): Promise<LoadedPlane> {
    const services = await startServices();
    const redis = openRedis(services.redis.url, createLogger('bench', 'silent'));
    const plane = new LoadedPlane(services, redis);
    try {
      await redisReady(redis, 5_000);
      await plane.#fill(nodes);
      return plane;
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async #fill(nodes: number): Promise<void> {
    const [geo] = await this.#call<{ country_code: string }[]>('GET', '/geos');
    this.#page = { url: 'https://shop.example/', country_code: geo?.country_code, emulator_id: 'windows_chrome' };
    await this.#createScans(backlogOf(nodes));
    const nodeApiUrl = `http://127.0.0.1:${this.#services.control.ports.node_api}`;
    const plan = { prefix: 'bench', nodes, slots: SLOTS, captureMs: CAPTURE_MS, nodeApiUrl, joinToken: NODE_TOKEN };
    this.#fleet = new SimulatedFleet(plan, (jobId) => {
      this.#leasedSince.set(jobId, performance.now());
      this.#leasedJob(jobId);
    });
    while (this.#leasedSince.size < nodes * SLOTS) await pause(100);
    await pause(RAMP_MS);
  }

  /** Creates `count` scans, in groups of repeats. */
  async #createScans(count: number): Promise<void> {
    let left = count;
    const worker = async () => {
      for (; left > 0; left -= REPEATS) await this.#call('POST', '/scans', { ...this.#page, repeat_count: REPEATS });
    };
    await Promise.all(Array.from({ length: CREATED_AT_ONCE }, worker));
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init = { method, headers: { authorization: `Bearer ${API_KEY}` }, body: body ? JSON.stringify(body) : null };
    const answer = await fetch(`http://127.0.0.1:${this.#services.control.ports.http}/api/v1${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async #scansIn(statuses: string): Promise<number> {
    return (await this.#call<{ total: number }>('GET', `/scans?status=${statuses}&limit=1`)).total;
  }

  async #redisCommands(): Promise<number> {
    return Number(/total_commands_processed:(\d+)/.exec(await this.#redis.info('stats'))?.[1]);
  }

  /** What `work` takes; rates per second. */
  async #measure(work: () => Promise<unknown>): Promise<Measured> {
    const { control, redis } = this.#services;
    const fleet = this.#fleet!;
    const cpu = () => [control.pid, redis.pid, fleet.process.pid!].map(cpuSecondsOfTree);
    fleet.reset();
    const [began, before, commands] = [performance.now(), cpu(), await this.#redisCommands()];
    const leased = this.#leasedSince.size;
    const hold = await control.longestHold(work);
    const seconds = (performance.now() - began) / 1000;
    return {
      seconds,
      cores: cpu().map((now, at) => (now - before[at]!) / seconds),
      claims: (this.#leasedSince.size - leased) / seconds,
      commands: ((await this.#redisCommands()) - commands) / seconds,
      hold: hold.clock,
      times: await fleet.read(),
    };
  }

  /** While more jobs wait than there are slots. */
  async underLoad(): Promise<Measured> {
    const load = await this.#measure(() => pause(LOAD_MS));
    if ((await this.#scansIn('pending')) === 0) throw new Error('the backlog was too small');
    return load;
  }

  async allDone(): Promise<void> {
    while ((await this.#scansIn('pending,running,crawled,checking')) > 0) await pause(500);
  }

  idle(): Promise<Measured> {
    return this.#measure(() => pause(IDLE_MS));
  }

  /** Scans that are created one after the other while all nodes wait; ms from the POST to the lease at a node, sorted. */
  async oneByOne(count: number): Promise<Measured & { singles: number[] }> {
    const singles: number[] = [];
    const measured = await this.#measure(async () => {
      while (singles.length < count) singles.push(await this.#singleMs());
    });
    return { ...measured, singles: singles.sort((a, b) => a - b) };
  }

  async #singleMs(): Promise<number> {
    const sent = performance.now();
    const { id } = await this.#call<{ id: string }>('POST', '/scans', this.#page);
    while (!this.#leasedSince.has(id))
      await new Promise<void>((resolve) => {
        this.#leasedJob = () => resolve();
      });
    return this.#leasedSince.get(id)! - sent;
  }

  async stop(): Promise<void> {
    await this.#fleet?.kill();
    this.#redis.disconnect();
    await this.#services.stop();
  }
}

const line = (name: string, values: number[]): string =>
  `| ${name} | ${values.map((value) => figure(value, 2)).join(' | ')} |`;

const timesOf = ({ times }: Measured, name: NodeCall): CallTimes => times[name] ?? { ms: [], errors: [] };
const errorsOf = ({ times }: Measured): string[] => Object.values(times).flatMap(({ errors }) => errors);
const renewP99 = (measured: Measured): number => percentile(timesOf(measured, 'renew').ms, 0.99);
const completedIn = (measured: Measured): number => {
  const { ms, errors } = timesOf(measured, 'complete');
  return (ms.length - errors.length) / measured.seconds;
};

const callRow = (measured: Measured, name: NodeCall): string => {
  const { ms, errors } = timesOf(measured, name);
  return line(name, [ms.length / measured.seconds, median(ms), percentile(ms, 0.99), ms.at(-1) ?? 0, errors.length]);
};
const usageRow = (name: string, { cores, times, seconds, commands, hold }: Measured): string => {
  const calls = Object.values(times).reduce((sum, { ms }) => sum + ms.length, 0) / seconds;
  return line(name, [...cores, calls, commands, hold]);
};

/** `work` with a plane of so many nodes, which is stopped afterwards. */
async function withPlane<T>(nodes: number, work: (plane: LoadedPlane) => Promise<T>): Promise<T> {
  const plane = await LoadedPlane.start(nodes);
  try {
    return await work(plane);
  } finally {
    await plane.stop();
  }
}

const { load, idle, one } = await withPlane(NODES, async (plane) => {
  const load = await plane.underLoad();
  await plane.allDone();
  return { load, idle: await plane.idle(), one: await plane.oneByOne(SINGLES) };
});
const loads = new Map([[NODES, load]]);
for (const nodes of FURTHER) loads.set(nodes, await withPlane(nodes, (plane) => plane.underLoad()));
const fleets = [...loads].sort(([a], [b]) => a - b);
const isCarried = (measured: Measured) => errorsOf(measured).length === 0 && renewP99(measured) < RENEW_MS_MAX;
const [largest] = fleets.findLast(([, measured]) => isCarried(measured)) ?? [];
const errors = [load, idle, one].flatMap(errorsOf);
const answers = timesOf(one, 'acquire').ms.length / SINGLES;
saveResult('node-api', [
  `# The node API with ${NODES} nodes`,
  `${machine()}. ${NODES} simulated nodes of ${SLOTS} slots, all in one process beside one control plane with every role, on the embedded store, and its Redis, on the same machine. A capture takes ${CAPTURE_MS[0] / 1000}-${CAPTURE_MS[1] / 1000} s and brings nothing; leases are renewed every 3 s and nodes report every 5 s, as real ones do. Under load for ${LOAD_MS / 1000} s, while more jobs waited than there were slots, ${figure(load.claims, 2)} jobs a second were claimed, and the captures of ${figure(completedIn(load), 2)} were accepted. ${errors.length === 0 ? 'No call failed' : `**${errors.length} calls failed**`}, and ${isCarried(load) ? 'renewals were' : '**not all was well: renewals were**'} answered within ${figure(renewP99(load), 2)} ms (p99; ${RENEW_MS_MAX} is the bound). Milliseconds of a call as the nodes see them:`,
  [
    '| call | a second | median | p99 | longest | errors |',
    '|---|--:|--:|--:|--:|--:|',
    ...CALLS.map((name) => callRow(load, name)),
  ].join('\n'),
  barChart(
    'p99 of a call, ms',
    CALLS.map((name) => [name, percentile(timesOf(load, name).ms, 0.99)]),
  ),
  'What that takes: CPU in cores, calls of the node API and Redis commands a second, and the longest hold of the control plane’s event loop in ms:',
  [
    '| | control plane | Redis | the nodes | calls | Redis commands | longest hold |',
    '|---|--:|--:|--:|--:|--:|--:|',
    usageRow('under load', load),
    usageRow('all nodes wait', idle),
    usageRow('scans one by one', one),
  ].join('\n'),
  `While all nodes waited, ${SINGLES} scans were created one after the other: ${figure(median(one.singles), 2)} ms (median) and ${figure(percentile(one.singles, 0.99), 2)} ms (p99) from the POST to the lease at a node, and ${figure(answers, 2)} answers to \`acquire\` for each, among them those of nodes that had waited for 25 s.`,
  [
    '| nodes | jobs a second due | accepted a second | renew, p99 in ms | complete, p99 in ms | failed calls | control plane, cores |',
    '|--:|--:|--:|--:|--:|--:|--:|',
    ...fleets.map(([nodes, measured]) =>
      line(String(nodes), [
        (nodes * SLOTS * 1000) / CAPTURE_MEAN_MS,
        completedIn(measured),
        renewP99(measured),
        percentile(timesOf(measured, 'complete').ms, 0.99),
        errorsOf(measured).length,
        measured.cores[0]!,
      ]),
    ),
  ].join('\n'),
  barChart(
    'captures accepted a second, by nodes',
    fleets.map(([nodes, measured]) => [String(nodes), completedIn(measured)]),
  ),
  largest === undefined
    ? 'None of these fleets was carried without a failed call and with renewals in time.'
    : `The largest of these fleets that was carried without a failed call and with renewals in time has ${largest} nodes of ${SLOTS} slots.`,
  ...(errors.length === 0 ? [] : [`Failed calls: ${[...new Set(errors)].slice(0, 3).join('; ')}`]),
]);
if (errors.length > 0) process.exitCode = 1;
