import type { NodeMarks } from './fleet-state.ts';
import type { MarkedNodes } from './marked-nodes.ts';
import type { Nodes, ReportedNode } from './nodes.ts';

/** The nodes as they report themselves, with the operator's instructions for them. */
export type FleetView = { read(): Promise<{ nodes: ReportedNode[]; marks: NodeMarks }> };

/** Reads both at once. Rejects while Redis is away. */
export function fleetView(
  nodes: Pick<Nodes, 'list'>,
  blocked: Pick<MarkedNodes, 'names'>,
  draining: Pick<MarkedNodes, 'names'>,
): FleetView {
  return {
    async read() {
      const [reported, shutOut, toDrain] = await Promise.all([nodes.list(), blocked.names(), draining.names()]);
      return { nodes: reported, marks: { blocked: new Set(shutOut), draining: new Set(toDrain) } };
    },
  };
}
