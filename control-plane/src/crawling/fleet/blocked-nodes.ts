import { insertOnce } from '../../platform/insert-once.ts';
import type { Store } from '../../platform/store.ts';

type BlockedNode = { _id: string; blocked_at: Date };

/** The names of nodes that the operator has shut out. */
export type BlockedNodes = ReturnType<typeof blockedNodes>;

export function blockedNodes(store: Store) {
  const blocked = store.collection<BlockedNode>('blocked_nodes');
  return {
    async add(nodeId: string, now: Date): Promise<void> {
      await insertOnce(blocked, { _id: nodeId, blocked_at: now });
    },

    async remove(nodeId: string): Promise<void> {
      await blocked.deleteOne({ _id: nodeId });
    },

    async has(nodeId: string): Promise<boolean> {
      return (await blocked.findOne({ _id: nodeId })) !== null;
    },
  };
}
