import { NODE_RESOURCES } from '@adsweep/shared/lease/messages.ts';
import { type Static, Type } from 'typebox';
import type { QueueLoad } from '../queue/read-depth.ts';
import { countSlots, desiredNodes, NODE_STATES, nodeStateOf } from './fleet-state.ts';
import type { NodeMarks, ReportedNode } from './nodes.ts';

const Count = Type.Integer({ minimum: 0 });
const Slots = Type.Object({ total: Count, busy: Count, free: Count });

export const FleetNodeSchema = Type.Object(
  {
    id: Type.String({ description: 'Its name.' }),
    instance: Type.String({ description: 'Which process of that name.' }),
    pool: Type.String(),
    labels: Type.Record(Type.String(), Type.String()),
    state: Type.Enum(NODE_STATES, {
      description:
        '`working`: it takes work. `overloaded`: it takes none until less of its machine is in use. `draining`: it finishes its jobs, or will begin to after its next report. `drained`: it has finished, and can be stopped. `blocked`: the operator has blocked it.',
    }),
    slots: Count,
    busy: Type.Integer({ minimum: 0, description: 'Slots that have a job.' }),
    overloaded: Type.Array(Type.Enum(NODE_RESOURCES), {
      description: 'The resources of its machine whose use is so high that it takes no more work.',
    }),
    adsweep_version: Type.String(),
    browser_version: Type.String(),
    seen_at: Type.String({ format: 'date-time', description: 'The time of its last report.' }),
  },
  { title: 'FleetNode' },
);

export const FleetSchema = Type.Object(
  {
    queue: Type.Object({
      waiting_interactive: Type.Integer({ minimum: 0, description: 'Jobs of scans that were created one by one.' }),
      waiting_bulk: Type.Integer({ minimum: 0, description: 'Jobs of bulk requests and repeats.' }),
      waiting_campaign: Type.Integer({ minimum: 0, description: 'Jobs of campaigns.' }),
      capped: Type.Integer({
        minimum: 0,
        description:
          'Of these waiting jobs, those beyond the `concurrent_leases` of their organization: more slots would not help them.',
      }),
      delayed: Type.Integer({ minimum: 0, description: 'Jobs that wait for their next attempt.' }),
      leased: Type.Integer({ minimum: 0, description: 'Jobs that are leased to a node.' }),
    }),
    nodes: Type.Object(Object.fromEntries(NODE_STATES.map((state) => [state, Count]))),
    slots: Slots,
    desired_nodes: Type.Integer({
      minimum: 0,
      description: 'Number of nodes of the current size that would have a slot for every job that is or can be leased.',
    }),
    pools: Type.Array(Type.Object({ pool: Type.String(), nodes: Count, slots: Slots })),
    blocked: Type.Array(Type.String(), { description: 'Names of blocked nodes, whether or not a node has them now.' }),
    draining: Type.Array(Type.String(), {
      description: 'Names of draining nodes, whether or not a node has them now.',
    }),
  },
  { title: 'Fleet' },
);

export function presentNode(node: ReportedNode, marks: NodeMarks): Static<typeof FleetNodeSchema> {
  const { id, instance, pool, labels, slots, busy, overloaded, adsweep_version, browser_version, seen_at } = node;
  const state = nodeStateOf(node, marks);
  const about = { id, instance, pool, labels, state, slots, busy, overloaded, adsweep_version, browser_version };
  return { ...about, seen_at: seen_at.toISOString() };
}

export function presentFleet(load: QueueLoad, nodes: ReportedNode[], marks: NodeMarks): Static<typeof FleetSchema> {
  const inState = (state: string) => nodes.filter((node) => nodeStateOf(node, marks) === state).length;
  const pools = [...Map.groupBy(nodes, ({ pool }) => pool)].toSorted(([a], [b]) => a.localeCompare(b));
  return {
    queue: {
      waiting_interactive: load.waiting[0],
      waiting_bulk: load.waiting[1],
      waiting_campaign: load.waiting[2],
      capped: load.capped,
      delayed: load.delayed,
      leased: load.leased,
    },
    nodes: Object.fromEntries(NODE_STATES.map((state) => [state, inState(state)])),
    slots: presentSlots(nodes, marks),
    desired_nodes: desiredNodes(load, nodes, marks),
    pools: pools.map(([pool, own]) => ({ pool, nodes: own.length, slots: presentSlots(own, marks) })),
    blocked: [...marks.blocked],
    draining: [...marks.draining],
  };
}

function presentSlots(nodes: ReportedNode[], marks: NodeMarks): Static<typeof Slots> {
  const { slots, busy } = countSlots(nodes, marks);
  return { total: slots, busy, free: Math.max(0, slots - busy) };
}
