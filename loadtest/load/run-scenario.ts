import { setTimeout as pause } from 'node:timers/promises';
import { demoExits } from '../../infra/demo/exits.ts';
import { startAdWorld } from '../../infra/demo/start-ad-world.ts';
import { cpuSecondsOfTree } from '../bench/cpu-of-tree.ts';
import { startServices } from '../bench/measured-services.ts';
import { percentile } from '../bench/report.ts';
import { type Scenario, type Steps, valueAt } from '../scenarios/scenario.ts';
import { Clients } from './clients.ts';
import { Nodes } from './nodes.ts';
import { type Quantity, quantityOf, type Sample } from './quantities.ts';

export type NodeKind = 'simulated' | 'real';
export type Outcome = { samples: Sample[]; quantities: Record<string, Quantity>; problems: string[] };

const TICK_MS = 100;
const SAMPLE_MS = 1_000;
const SHOWN_EVERY = 5;
/** As long as what was requested may take to end after the last request. */
const REST_MS = 180_000;
/** Real pages on one machine: so much of a scenario's rate. */
const REAL_SHARE = 0.1;
/** And their scans may take so many seconds more than with simulated nodes: a browser starts, and pages are looked at. */
const REAL_SECONDS = 20;

/** Runs a scenario on a farm of its own, and tells how it goes. `problems`: why the run has failed. */
export async function runScenario(
  scenario: Scenario,
  { kind, minutes, say }: { kind: NodeKind; minutes: number; say: (line: string) => void },
): Promise<Outcome> {
  const world = await startAdWorld();
  const settings = { ADSWEEP_START_BALANCE_MICROS: '10000000000000', ADSWEEP_DELIVERY_ALLOW: '127.0.0.0/8' };
  const services = await startServices(settings, null, kind === 'real' ? demoExits(world.port) : null);
  const { http, node_api } = services.control.ports;
  const clients = await Clients.start(`http://127.0.0.1:${http}`);
  const nodes = new Nodes(scenario, kind, {
    nodeApiUrl: `http://127.0.0.1:${node_api}`,
    proxyUrl: `http://127.0.0.1:${services.router.ports.api}`,
  });
  try {
    const pids = [services.control.pid, services.redis.pid];
    return await new Run(scenario, kind, clients, nodes, pids, say).run(minutes * 60_000);
  } finally {
    await nodes.stop();
    await clients.stop();
    await services.stop();
    await world.close();
  }
}

class Run {
  readonly #scenario: Scenario;
  readonly #rateShare: number;
  readonly #secondsMore: number;
  readonly #clients: Clients;
  readonly #nodes: Nodes;
  readonly #pids: number[];
  readonly #say: (line: string) => void;
  readonly #samples: Sample[] = [];

  constructor(
    s: Scenario,
    kind: NodeKind,
    clients: Clients,
    nodes: Nodes,
    pids: number[],
    say: (line: string) => void,
  ) {
    this.#scenario = s;
    this.#rateShare = kind === 'real' ? REAL_SHARE : 1;
    this.#secondsMore = kind === 'real' ? REAL_SECONDS : 0;
    this.#clients = clients;
    this.#nodes = nodes;
    this.#pids = pids;
    this.#say = say;
  }

  async run(ms: number): Promise<Outcome> {
    const { tenants, endpoints, nodes } = this.#scenario;
    for (const name of Object.keys(tenants)) await this.#clients.join(name, endpoints);
    const cpu = this.#cpu();
    const began = performance.now();
    for (const [name, { campaign }] of Object.entries(tenants))
      if (campaign) await this.#clients.runCampaign(name, Math.ceil(campaign * this.#rateShare));
    const due: Record<string, number> = {};
    for (let before = 0, sampled = 0; ; ) {
      const now = performance.now() - began;
      const isOver = now >= ms;
      this.#nodes.setCount(valueAt(nodes, Math.min(1, now / ms)));
      if (!isOver)
        for (const [name, { scansPerSecond }] of Object.entries(tenants))
          this.#ask(name, scansPerSecond, before, now, ms, due);
      if (now >= (sampled + 1) * SAMPLE_MS) {
        sampled = Math.floor(now / SAMPLE_MS);
        await this.#sample(now / 1000);
      }
      if (isOver && (this.#hasEnded || now > ms + REST_MS)) break;
      before = now;
      await pause(TICK_MS);
    }
    return this.#outcome(this.#cpu() - cpu);
  }

  #ask(name: string, rate: Steps, before: number, now: number, ms: number, due: Record<string, number>): void {
    due[name] = (due[name] ?? 0) + (valueAt(rate, now / ms) * this.#rateShare * (now - before)) / 1000;
    for (; due[name] >= 1; due[name] -= 1) this.#clients.request(name);
  }

  get #hasEnded(): boolean {
    const { requested, completed, delivered, errors } = this.#clients;
    return completed + errors.length >= requested && delivered >= completed * this.#scenario.endpoints;
  }

  async #sample(second: number): Promise<void> {
    const sums = this.#samples.reduce(
      (sum, one) => ({ requested: sum.requested + one.requested, completed: sum.completed + one.completed }),
      { requested: 0, completed: 0 },
    );
    const { requested, completed, errors } = this.#clients;
    const waiting = await this.#clients.count('pending');
    const nodes = this.#nodes.count;
    this.#samples.push({
      requested: requested - sums.requested,
      completed: completed - sums.completed,
      waiting,
      nodes,
    });
    if (this.#samples.length % SHOWN_EVERY === 0)
      this.#say(
        `${second.toFixed(0).padStart(4)} s  ${requested} requested, ${completed} completed, ${waiting} waiting, ${nodes} nodes, ${errors.length} errors`,
      );
  }

  async #outcome(cpu: number): Promise<Outcome> {
    const { tenants, endpoints, secondsMax } = this.#scenario;
    const { requested, completed, delivered, errors } = this.#clients;
    const failed = await this.#clients.count('failed,partial,cancelled');
    const problems = [...new Set(errors)].map((error) => `${errors.filter((one) => one === error).length} x ${error}`);
    if (failed > 0) problems.push(`${failed} scans did not complete`);
    if (completed < requested) problems.push(`${requested - completed} scans of ${requested} have no event`);
    if (delivered < completed * endpoints) problems.push(`${completed * endpoints - delivered} events did not arrive`);
    const quantities: Record<string, Quantity> = {
      'scans requested': quantityOf(
        this.#samples.map((one) => one.requested),
        'a second',
      ),
      'scans completed': quantityOf(
        this.#samples.map((one) => one.completed),
        'a second',
      ),
      'scans that wait': quantityOf(
        this.#samples.map((one) => one.waiting),
        'scans',
      ),
      'CPU of control plane and Redis': quantityOf([(cpu / Math.max(1, completed)) * 1000], 'ms a scan'),
    };
    for (const name of Object.keys(tenants)) {
      const seconds = this.#clients.secondsOf(name);
      if (seconds.length === 0) continue;
      quantities[`from request to event, ${name}`] = quantityOf(seconds, 's');
      const [p95, most] = [
        percentile(seconds, 0.95),
        (secondsMax[name] ?? Number.POSITIVE_INFINITY) + this.#secondsMore,
      ];
      if (p95 > most) problems.push(`${name}: 95 % of the events came within ${p95.toFixed(1)} s, and not ${most} s`);
    }
    return { samples: this.#samples, quantities, problems };
  }

  #cpu(): number {
    return this.#pids.reduce((sum, pid) => sum + cpuSecondsOfTree(pid), 0);
  }
}
