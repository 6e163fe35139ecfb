import { nodeStateOf } from '../fleet/fleet-state.ts';
import type { FleetReading } from '../fleet/nodes.ts';
import type { ScaledNode, ScaledNodeState } from './decide-scaling.ts';
import type { SeenContainer } from './docker-host.ts';

/** Time that a container has to report as a node. */
const START_MS = 120_000;

/** Containers of the hosts that answered, by host. */
export type SeenContainers = ReadonlyMap<string, readonly SeenContainer[]>;

/**
 * Joins containers with what their nodes report; `others`: the working nodes that are in none of them, an enrolled one
 * with all its processes once.
 */
export function joinReports(
  seen: SeenContainers,
  fleet: FleetReading,
  now: number,
): { nodes: ScaledNode[]; others: number } {
  const { nodes: reported, marks } = fleet;
  const reports = new Map(reported.map((node) => [node.id, node]));
  const nodes = [...seen].flatMap(([host, containers]) =>
    containers.map(({ name, image, isRunning, since }): ScaledNode => {
      const report = reports.get(name);
      const isToDrain = marks.draining.has(name);
      const common = { name, host, image, since, isToDrain, busy: report?.busy ?? 0 };
      // Its reports are refused, and its container may be evidence.
      if (marks.blocked.has(name)) return { ...common, state: 'blocked' };
      if (!isRunning) return { ...common, state: isToDrain ? 'ended' : 'dead' };
      if (!report) return { ...common, state: now - since < START_MS ? 'starting' : 'silent' };
      return { ...common, state: STATES[nodeStateOf(report, marks)] };
    }),
  );
  const own = new Set(nodes.map(({ name }) => name));
  const others = reported.filter((node) => !own.has(node.id) && STATES[nodeStateOf(node, marks)] === 'working');
  const named = new Set(others.map(({ id, instance, is_enrolled }) => (is_enrolled ? id : `${id}/${instance}`)));
  return { nodes, others: named.size };
}

/**
 * An overloaded or waiting node continues its work, and takes more later: further ones would wait for the same service.
 */
const STATES: Record<ReturnType<typeof nodeStateOf>, ScaledNodeState> = {
  working: 'working',
  overloaded: 'working',
  waiting: 'working',
  draining: 'draining',
  drained: 'drained',
  blocked: 'blocked',
};
