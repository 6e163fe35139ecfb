import { DAY_MS } from '@adsweep/shared/durations.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { deleteInPortions } from '../../platform/in-portions.ts';
import type { Store } from '../../platform/store.ts';
import type { ScaledNodeState, ScalingAction } from './decide-scaling.ts';

/**
 * A decision of the scaler that changed something, or that it could not carry out. `failed`: actions that an engine
 * refused, with its answer.
 */
export type DecisionRecord = {
  _id: string;
  at: Date;
  dry_run: boolean;
  desired_nodes: number;
  target_nodes: number;
  /** Nodes by state, and as `others` the working ones that the scaler has not created. */
  nodes: Partial<Record<ScaledNodeState | 'others', number>>;
  actions: (ScalingAction & { node: string })[];
  held: string[];
  failed: string[];
};

const KEPT_MS = 30 * DAY_MS;

export type DecisionStore = ReturnType<typeof decisionStore>;

/** The decisions of the last 30 days. */
export function decisionStore(store: Store) {
  const decisions = store.collection<DecisionRecord>('scaling_decisions');
  return {
    createIndexes: async (): Promise<void> => void (await decisions.createIndexes([{ key: { at: -1, _id: -1 } }])),

    /** Adds a decision, and removes the expired ones. */
    async add(decision: Omit<DecisionRecord, '_id'>): Promise<void> {
      await decisions.insertOne({ _id: newId(), ...decision });
      await deleteInPortions(decisions, { at: { $lt: new Date(decision.at.getTime() - KEPT_MS) } });
    },

    /** The newest first, and how many there are. */
    async page({ skip, limit }: { skip: number; limit: number }): Promise<{ items: DecisionRecord[]; total: number }> {
      const [items, total] = await Promise.all([
        decisions.find({}).sort({ at: -1, _id: -1 }).skip(skip).limit(limit).toArray(),
        decisions.countDocuments({}),
      ]);
      return { items, total };
    },
  };
}
