import { insertOnce } from '../../platform/insert-once.ts';
import type { Store } from '../../platform/store.ts';

type MarkedNode = { _id: string; marked_at: Date };

/** Names of nodes with an instruction of the operator, whichever processes have these names. */
export type MarkedNodes = ReturnType<typeof markedNodes>;

/** The names of nodes that are shut out, or that are to finish what they have and take no more. */
export function markedNodes(store: Store, collection: 'blocked_nodes' | 'draining_nodes') {
  const marked = store.collection<MarkedNode>(collection);
  return {
    async add(nodeId: string, now: Date): Promise<void> {
      await insertOnce(marked, { _id: nodeId, marked_at: now });
    },

    async remove(nodeId: string): Promise<void> {
      await marked.deleteOne({ _id: nodeId });
    },

    async has(nodeId: string): Promise<boolean> {
      return (await marked.findOne({ _id: nodeId })) !== null;
    },

    /** All of them, in the order of their names. */
    async names(): Promise<string[]> {
      const all = await marked.find({}).sort({ _id: 1 }).toArray();
      return all.map(({ _id }) => _id);
    },
  };
}
