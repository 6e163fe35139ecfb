import { randomBytes } from 'node:crypto';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { exclusiveWork } from '../../platform/exclusive-work.ts';
import type { RedisClient } from '../../platform/redis.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { desiredNodes, slotsPerNode } from '../fleet/desired-nodes.ts';
import type { FleetView, Nodes } from '../fleet/nodes.ts';
import type { QueueLoad } from '../queue/read-depth.ts';
import {
  decideScaling,
  newMemory,
  type ScaledHost,
  type ScalingAction,
  type ScalingDecision,
  type ScalingMemory,
} from './decide-scaling.ts';
import type { DecisionRecord, DecisionStore } from './decision-store.ts';
import { type DockerHost, dockerHost, type SeenContainer } from './docker-host.ts';
import { joinReports } from './join-reports.ts';
import type { ScalerFile } from './scaler-file.ts';

/** What the operator wants of the scaler. */
export type ScalerSettings = { dryRun: boolean; file: ScalerFile };

export type ScalerDependencies = {
  fleet: FleetView;
  nodes: Pick<Nodes, 'forget'>;
  queue: { load(): Promise<QueueLoad> };
  drainNode(nodeId: string): Promise<unknown>;
  undrainNode(nodeId: string): Promise<unknown>;
  decisions: Pick<DecisionStore, 'add'>;
  metrics: Pick<WorkMetrics, 'scalerActions' | 'scalerTarget' | 'scalerHosts'>;
  logger: Logger;
};

const STEP_EVERY_MS = 15_000;
/** After this time another process scales, if the one that does has ended. */
const CLAIM_MS = 60_000;

/**
 * Runs the scaler in one process of the deployment at a time. A process that takes over drains nothing during its first
 * cool-down.
 */
export function startScaler(dependencies: ScalerDependencies & { redis: RedisClient }, settings: ScalerSettings): Loop {
  const exclusive = exclusiveWork(dependencies.redis, 'scaler', CLAIM_MS);
  let scaler: Scaler | null = null;
  const step = async () => {
    const done = await exclusive.run(async () => {
      scaler ??= new Scaler(dependencies, settings);
      await scaler.step(Date.now());
      return true;
    });
    if (done) return;
    scaler = null;
    // Another process reports them now.
    dependencies.metrics.scalerHosts.reset();
    dependencies.metrics.scalerTarget.reset();
  };
  const loop = startLoop(dependencies.logger, { name: 'scaler', everyMs: STEP_EVERY_MS, step });
  return { stop: () => exclusive.stop(loop) };
}

type NamedAction = ScalingAction & { node: string };
type Host = ScalerFile['hosts'][number] & { engine: DockerHost; isAway: boolean };
type SeenHost = { host: ScaledHost; containers: SeenContainer[] };

/** Sees the farm, decides and acts, one step after another. */
export class Scaler {
  readonly #dependencies: ScalerDependencies;
  readonly #settings: ScalerSettings;
  readonly #hosts: Host[];
  #memory: ScalingMemory | null = null;
  /** When the last step began. */
  #steppedAt = 0;
  #lastSaid = '';

  constructor(dependencies: ScalerDependencies, settings: ScalerSettings) {
    const { hosts, farm, container } = settings.file;
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#hosts = hosts.map((host) => ({ ...host, engine: dockerHost(host.docker, farm, container), isAway: false }));
  }

  /** One step. Rejects, and does nothing, while the queue or the store is unavailable. */
  async step(now: number): Promise<void> {
    const { fleet, queue, metrics } = this.#dependencies;
    const { min, max, cool_down_seconds } = this.#settings.file;
    // Times of before the clock was set back would hold starts and drains until it has caught up.
    const isSetBack = now < this.#steppedAt;
    const before = this.#memory === null || isSetBack ? newMemory(now) : this.#memory;
    this.#steppedAt = now;
    // If this step fails, the reports of nodes may have been missing for longer than it is known.
    this.#memory = { ...before, reportedSince: null };
    const [reading, load, seen] = await Promise.all([
      fleet.read(),
      queue.load(),
      Promise.all(this.#hosts.map((host) => this.#see(host))),
    ]);
    const containers = new Map(seen.map(({ host, containers: own }) => [host.name, own]));
    const view = {
      now,
      desired: desiredNodes(load, slotsPerNode(reading)),
      hosts: seen.map(({ host }) => host),
      ...joinReports(containers, reading, now),
    };
    const limits = { min, max, coolDownMs: cool_down_seconds * 1000 };
    const decision = decideScaling(view, before, limits);
    this.#memory = decision.memory;

    const actions = decision.actions.map((action) => this.#named(action, now));
    const failed = this.#settings.dryRun ? [] : await this.#act(actions);
    const reachable = view.hosts.filter(({ isReachable }) => isReachable).length;
    metrics.scalerTarget.set(decision.target);
    metrics.scalerHosts.set({ state: 'reachable' }, reachable);
    metrics.scalerHosts.set({ state: 'unreachable' }, view.hosts.length - reachable);
    const states = [...view.nodes.map(({ state }) => state), ...Array(view.others).fill('others' as const)];
    const nodes = Object.fromEntries(
      [...Map.groupBy(states, (state) => state)].map(([state, of]) => [state, of.length]),
    );
    await this.#record({ desired: view.desired, nodes, decision, actions, failed, now });
  }

  /**
   * What there is on a host. The log has when its engine stops answering, with the reason, and when it answers again.
   */
  async #see(of: Host): Promise<SeenHost> {
    const { logger } = this.#dependencies;
    const { engine, name, min, max } = of;
    try {
      const { image, containers } = await engine.read();
      if (of.isAway) logger.info({ host: name }, 'a Docker engine answers again');
      of.isAway = false;
      return { host: { name, min, max, image, isReachable: true }, containers };
    } catch (cause) {
      if (!of.isAway) logger.warn({ host: name, cause }, 'a Docker engine does not answer');
      of.isAway = true;
      return { host: { name, min, max, image: null, isReachable: false }, containers: [] };
    }
  }

  /** A node's name is never used again: drains are by name. */
  #named(action: ScalingAction, now: number): NamedAction {
    if (action.do !== 'start') return action;
    const { farm } = this.#settings.file;
    return { ...action, node: `${farm}-${now.toString(36)}-${randomBytes(3).toString('hex')}` };
  }

  /** Returns what failed, in words; the next step decides anew. */
  async #act(actions: NamedAction[]): Promise<string[]> {
    const results = await Promise.allSettled(actions.map((action) => this.#do(action)));
    return results.flatMap((result, at) =>
      result.status === 'fulfilled' ? [] : [`${actions[at]!.do} ${actions[at]!.node}: ${messageOf(result.reason)}`],
    );
  }

  async #do(action: NamedAction): Promise<void> {
    const { nodes, drainNode, undrainNode, metrics } = this.#dependencies;
    const { engine } = this.#hosts.find(({ name }) => name === action.host)!;
    if (action.do === 'start') await engine.start(action.node, action.image);
    if (action.do === 'drain') await drainNode(action.node);
    if (action.do === 'stop') await engine.stop(action.node);
    if (action.do === 'remove') {
      await engine.remove(action.node);
      // No other node will have its name. Its last report would count as a working node that the scaler has not
      // created.
      await Promise.all([undrainNode(action.node), nodes.forget(action.node)]);
    }
    metrics.scalerActions.inc({ action: action.do });
  }

  async #record({ desired, nodes, decision, actions, failed, now }: Recorded): Promise<void> {
    const { decisions, logger } = this.#dependencies;
    const { target, held } = decision;
    const said = JSON.stringify([decision.actions, held, failed]);
    const isSame = said === this.#lastSaid;
    this.#lastSaid = said;
    // What is carried out is always recorded; what a dry run would do, or cannot be done, only when it changes.
    const isDone = actions.length > failed.length && !this.#settings.dryRun;
    if (!isDone && (isSame || actions.length + held.length === 0)) return;
    const record = {
      at: new Date(now),
      dry_run: this.#settings.dryRun,
      desired_nodes: desired,
      target_nodes: target,
      nodes,
      actions,
      held,
      failed,
    };
    logger.info({ ...record, at: undefined }, 'the scaler has decided');
    await decisions.add(record);
  }
}

type Recorded = {
  desired: number;
  nodes: DecisionRecord['nodes'];
  decision: ScalingDecision;
  actions: NamedAction[];
  failed: string[];
  now: number;
};

const messageOf = (reason: unknown): string =>
  (reason instanceof Error ? reason.message : String(reason)).slice(0, 300);
