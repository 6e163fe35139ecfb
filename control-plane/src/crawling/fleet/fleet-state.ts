import type { NodeMarks, ReportedNode } from './nodes.ts';

/**
 * The state of a node. `working`: it takes work. `overloaded`: it takes none for the moment, because too much of its
 * machine is in use. `waiting`: it takes none until a service that it needs is back. `draining`: it finishes its
 * captures and takes no more, or will with its next report; `drained`: it has finished. `blocked`: the operator has
 * blocked it.
 */
export const NODE_STATES = ['working', 'overloaded', 'waiting', 'draining', 'drained', 'blocked'] as const;
export type NodeState = (typeof NODE_STATES)[number];

export function nodeStateOf(node: ReportedNode, marks: NodeMarks): NodeState {
  const { id, draining, busy, overloaded, waits_for } = node;
  if (marks.blocked.has(id)) return 'blocked';
  if (draining || marks.draining.has(id)) return busy === 0 && draining ? 'drained' : 'draining';
  if (waits_for.length > 0) return 'waiting';
  return overloaded.length > 0 ? 'overloaded' : 'working';
}

/** Slots of working nodes: all, and those in use. */
export type SlotCount = { slots: number; busy: number };

/** Counts the slots of working nodes. */
export function countSlots(nodes: ReportedNode[], marks: NodeMarks): SlotCount {
  const working = nodes.filter((node) => nodeStateOf(node, marks) === 'working');
  const sum = (of: 'slots' | 'busy') => working.reduce((total, node) => total + node[of], 0);
  return { slots: sum('slots'), busy: sum('busy') };
}

/**
 * `busy`: in use, of all nodes; the others are `free`, or belong to a node that takes no work because it is
 * `overloaded`, waits or drains.
 */
export const SLOT_STATES = ['busy', 'free', 'overloaded', 'waiting', 'draining'] as const;
type SlotState = (typeof SLOT_STATES)[number];

const IDLE_SLOTS: Record<Exclude<NodeState, 'blocked'>, SlotState> = {
  working: 'free',
  overloaded: 'overloaded',
  waiting: 'waiting',
  draining: 'draining',
  drained: 'draining',
};

/** Counts the slots of all nodes that are not blocked, by state. */
export function slotsByState(nodes: ReportedNode[], marks: NodeMarks): Record<SlotState, number> {
  const counts = { busy: 0, free: 0, overloaded: 0, waiting: 0, draining: 0 };
  for (const node of nodes) {
    const state = nodeStateOf(node, marks);
    if (state === 'blocked') continue;
    counts.busy += node.busy;
    counts[IDLE_SLOTS[state]] += Math.max(0, node.slots - node.busy);
  }
  return counts;
}
