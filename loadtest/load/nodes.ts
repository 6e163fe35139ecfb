import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { environmentWith } from '../bench/config.ts';
import { NODE_TOKEN } from '../bench/measured-services.ts';
import { killProcess, SimulatedFleet } from '../bench/simulated-fleet.ts';
import type { Scenario } from '../scenarios/scenario.ts';

/** Some nodes that come and go together. */
type Group = { nodes: number; drain: () => Promise<void>; kill: () => Promise<void> };
type Addresses = { nodeApiUrl: string; proxyUrl: string };

const REAL_NODE = resolve(import.meta.dirname, '../../browser-node/src/main.ts');
/** Above this number, simulated nodes share a process, and come and go together. */
const PROCESSES_MAX = 8;

/** The nodes of a run, whose number can be changed. */
export class Nodes {
  readonly #scenario: Scenario;
  readonly #kind: 'simulated' | 'real';
  readonly #addresses: Addresses;
  readonly #groups: Group[] = [];
  readonly #leaving: Promise<void>[] = [];
  #begun = 0;

  constructor(scenario: Scenario, kind: 'simulated' | 'real', addresses: Addresses) {
    this.#scenario = scenario;
    this.#kind = kind;
    this.#addresses = addresses;
  }

  get count(): number {
    return this.#groups.reduce((sum, { nodes }) => sum + nodes, 0);
  }

  /** Starts nodes, or lets the newest ones leave, until there are so many. */
  setCount(wanted: number): void {
    const missing = wanted - this.count;
    if (missing > PROCESSES_MAX) this.#groups.push(this.#start(missing));
    else for (let started = 0; started < missing; started += 1) this.#groups.push(this.#start(1));
    while (this.count > wanted) {
      const group = this.#groups.pop()!;
      this.#leaving.push(this.#scenario.leaves === 'killed' ? group.kill() : group.drain());
    }
  }

  /** Resolves when the nodes that left have ended; kills the others. */
  async stop(): Promise<void> {
    await Promise.all([...this.#leaving, ...this.#groups.map(({ kill }) => kill())]);
  }

  #start(nodes: number): Group {
    this.#begun += 1;
    const prefix = `load-${this.#begun}`;
    return this.#kind === 'real' ? this.#startReal(prefix) : this.#startSimulated(prefix, nodes);
  }

  #startSimulated(prefix: string, nodes: number): Group {
    const { slots, captureSeconds } = this.#scenario;
    const captureMs: [number, number] = [captureSeconds[0] * 1000, captureSeconds[1] * 1000];
    const plan = { prefix, nodes, slots, captureMs, nodeApiUrl: this.#addresses.nodeApiUrl, joinToken: NODE_TOKEN };
    const fleet = new SimulatedFleet(plan, () => undefined);
    return { nodes, drain: () => fleet.drain(), kill: () => fleet.kill() };
  }

  #startReal(id: string): Group {
    const { nodeApiUrl, proxyUrl } = this.#addresses;
    const env = environmentWith({
      ADSWEEP_NODE_ID: id,
      ADSWEEP_NODE_API_URL: nodeApiUrl,
      ADSWEEP_PROXY_URL: proxyUrl,
      ADSWEEP_NODE_TOKEN: NODE_TOKEN,
      ADSWEEP_SLOTS: String(this.#scenario.slots),
      ADSWEEP_METRICS_PORT: '0',
      ADSWEEP_LOG_LEVEL: 'error',
    });
    const child = fork(REAL_NODE, { env });
    return { nodes: 1, drain: () => terminate(child), kill: () => killProcess(child) };
  }
}

/** SIGTERM, which drains. */
async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
