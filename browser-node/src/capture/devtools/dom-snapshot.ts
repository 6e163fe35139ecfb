import type { CommandAnswer, TargetSession } from './devtools.ts';

type Answer = CommandAnswer<'DOMSnapshot.captureSnapshot'>;
/**
 * The documents of a tab or frame and of the frames in its process: nodes, closed shadow roots included, and the boxes
 * that are laid out.
 */
export type Snapshot = Answer;
export type DocumentSnapshot = Answer['documents'][number];

/** The computed styles of each box, in this order. */
export const STYLES = [
  ...(['display', 'position', 'visibility', 'opacity', 'overflow-x', 'overflow-y', 'clip', 'clip-path'] as const),
  ...(['transform', 'font-size', '-webkit-text-fill-color', '-webkit-text-stroke-width', 'text-shadow'] as const),
  ...(['background-color', 'background-image', 'background-clip', 'mix-blend-mode', 'mask-image', 'filter'] as const),
  ...(['direction', 'unicode-bidi'] as const),
] as const;
export type Style = (typeof STYLES)[number];

/** A snapshot of more nodes, or with more bytes, is not taken: reading it would hold up all captures of the node. */
const NODES_MAX = 60_000;

/**
 * A snapshot of the documents in the process of a target. Rejects if they are too large, the target is gone, or it does
 * not answer in time. `styles`: the computed styles to read of each box; `nodesMax`: a lower bound of the nodes. It is
 * a command that the page does not notice and that grants it nothing.
 */
export async function takeSnapshot(
  session: TargetSession,
  deadlineMs: number,
  { styles = STYLES, nodesMax = NODES_MAX }: { styles?: readonly string[]; nodesMax?: number } = {},
): Promise<Snapshot> {
  const most = Math.min(nodesMax, NODES_MAX);
  const count = async () => (await session.send('Memory.getDOMCounters', undefined, deadlineMs)).nodes;
  // The nodes that a page has replaced count until their memory is freed: several times its own if it renders often.
  let nodes = await count();
  if (nodes > most) {
    await session.send('HeapProfiler.collectGarbage', undefined, deadlineMs);
    nodes = await count();
  }
  if (nodes > most) throw new Error(`a document has ${nodes} nodes`);
  const params = { computedStyles: [...styles], includePaintOrder: true };
  return session.send('DOMSnapshot.captureSnapshot', params, deadlineMs);
}
