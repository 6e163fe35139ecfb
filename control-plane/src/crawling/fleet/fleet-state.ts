import type { QueueLoad } from '../queue/read-depth.ts';
import type { NodeMarks, ReportedNode } from './nodes.ts';

/**
 * The state of a node. `working`: it takes work. `overloaded`: it takes none for the moment, because too much of its machine is in use.
 * `draining`: it finishes its captures and takes no more, or will with its next report; `drained`: it has finished. `blocked`: the
 * operator has blocked it.
 */
export const NODE_STATES = ['working', 'overloaded', 'draining', 'drained', 'blocked'] as const;
export type NodeState = (typeof NODE_STATES)[number];

export function nodeStateOf({ id, draining, busy, overloaded }: ReportedNode, marks: NodeMarks): NodeState {
  if (marks.blocked.has(id)) return 'blocked';
  if (!draining && !marks.draining.has(id)) return overloaded.length > 0 ? 'overloaded' : 'working';
  return busy === 0 && draining ? 'drained' : 'draining';
}

/** Slots of working nodes: all, and those in use. */
export type SlotCount = { slots: number; busy: number };

/** The assumed number of slots per node while none has registered. */
const USUAL_SLOTS = 4;

/** Counts the slots of working nodes. */
export function countSlots(nodes: ReportedNode[], marks: NodeMarks): SlotCount {
  const working = nodes.filter((node) => nodeStateOf(node, marks) === 'working');
  const sum = (of: 'slots' | 'busy') => working.reduce((total, node) => total + node[of], 0);
  return { slots: sum('slots'), busy: sum('busy') };
}

/** Number of nodes of the current size that would have a slot for every job that is leased or can be leased. */
export function desiredNodes({ waiting, capped, leased }: QueueLoad, nodes: ReportedNode[], marks: NodeMarks): number {
  const working = nodes.filter((node) => nodeStateOf(node, marks) === 'working').length;
  const slotsPerNode = working > 0 ? countSlots(nodes, marks).slots / working : USUAL_SLOTS;
  const jobs = Object.values(waiting).reduce((total, count) => total + count, leased - capped);
  return Math.ceil(jobs / slotsPerNode);
}
