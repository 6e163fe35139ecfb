import { NODE_RESOURCES, NODE_SERVICES } from '@adsweep/shared/lease/messages.ts';
import { type Static, Type } from 'typebox';
import type { QueueLoad } from '../queue/read-depth.ts';
import { desiredNodes, slotsPerNode } from './desired-nodes.ts';
import { countSlots, NODE_STATES, nodeStateOf } from './fleet-state.ts';
import type { FleetReading, NodeMarks, ReportedNode } from './nodes.ts';

const Count = Type.Integer({ minimum: 0 });
const Slots = Type.Object({ total: Count, busy: Count, free: Count });

export const FleetNodeSchema = Type.Object(
  {
    id: Type.String({ description: 'Its name.' }),
    instance: Type.String({ description: 'Which process of that name.' }),
    labels: Type.Record(Type.String(), Type.String()),
    state: Type.Enum(NODE_STATES, {
      description:
        '`working`: it takes work. `overloaded`: it takes none until less of its machine is in use. `waiting`: it takes none until a service that it needs is back. `draining`: it finishes its jobs, or will begin to after its next report. `drained`: it has finished, and can be stopped. `blocked`: the operator has blocked it.',
    }),
    slots: Count,
    busy: Type.Integer({ minimum: 0, description: 'Slots that have a job.' }),
    overloaded: Type.Array(Type.Enum(NODE_RESOURCES), {
      description: 'The resources of its machine whose use is so high that it takes no more work.',
    }),
    waits_for: Type.Array(Type.Enum(NODE_SERVICES), {
      description:
        'The services until whose return it takes no more work. `exits`: the proxy-router is gone, or has no exits. `browser`: its browser does not start, or its remote one is gone.',
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
      description:
        'Number of nodes of the current size that have a slot for every leased job, and for every waiting one early enough: interactive jobs within 15 s, bulk jobs within 60 s, those of campaigns within 300 s, by the time that such jobs took lately.',
    }),
    blocked: Type.Array(Type.String(), { description: 'Names of blocked nodes, whether or not a node has them now.' }),
    draining: Type.Array(Type.String(), {
      description: 'Names of draining nodes, whether or not a node has them now.',
    }),
  },
  { title: 'Fleet' },
);

export function presentNode(node: ReportedNode, marks: NodeMarks): Static<typeof FleetNodeSchema> {
  const { id, instance, labels, slots, busy, overloaded, waits_for, adsweep_version, browser_version, seen_at } = node;
  const state = nodeStateOf(node, marks);
  const about = { id, instance, labels, state, slots, busy, overloaded, waits_for, adsweep_version, browser_version };
  return { ...about, seen_at: seen_at.toISOString() };
}

export function presentFleet(load: QueueLoad, fleet: FleetReading): Static<typeof FleetSchema> {
  const { nodes, marks } = fleet;
  const inState = (state: string) => nodes.filter((node) => nodeStateOf(node, marks) === state).length;
  return {
    queue: {
      waiting_interactive: load.waiting[0],
      waiting_bulk: load.waiting[1],
      waiting_campaign: load.waiting[2],
      capped: load.capped[0] + load.capped[1] + load.capped[2],
      delayed: load.delayed,
      leased: load.leased,
    },
    nodes: Object.fromEntries(NODE_STATES.map((state) => [state, inState(state)])),
    slots: presentSlots(nodes, marks),
    desired_nodes: desiredNodes(load, slotsPerNode(fleet)),
    blocked: [...marks.blocked],
    draining: [...marks.draining],
  };
}

function presentSlots(nodes: ReportedNode[], marks: NodeMarks): Static<typeof Slots> {
  const { slots, busy } = countSlots(nodes, marks);
  return { total: slots, busy, free: Math.max(0, slots - busy) };
}
