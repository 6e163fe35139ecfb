import type { Document } from 'mongodb';
import { conditionsOf } from '../filters/filter-conditions.ts';
import type { Records } from '../storage/records.ts';
import { findRows, type Window } from './find-rows.ts';
import { readsByParts } from './part-rows.ts';
import { type Plan, planFor } from './plan.ts';
import type { Part } from './sorted-entries.ts';

/** Runs a search and reports its plan and cost in the form of MongoDB's `explain('executionStats')`. */
export function explain(records: Records, filter: object, window: Required<Omit<Window, 'shown'>>): Document {
  const { order, skip, limit } = window;
  const most = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  const conditions = conditionsOf(filter);
  const plan = planFor(records.indexes, { ...conditions, order, most });
  const isByParts = plan !== null && readsByParts(records, conditions, plan);
  let totalDocsExamined = 0;
  const examine = () => {
    totalDocsExamined += 1;
  };
  const nReturned = findRows(records, filter, window, examine).reduce((count) => count + 1, 0);
  const isSorted = plan ? plan.sorted : order.length === 0;
  const stage = isByParts ? { stage: 'FETCH', inputStage: { stage: 'PARTS' } } : stageOf(plan);
  return {
    queryPlanner: { winningPlan: isSorted ? stage : { stage: 'SORT', inputStage: stage } },
    executionStats: { nReturned, totalDocsExamined },
  };
}

function stageOf(plan: Plan | null): Document {
  if (!plan) return { stage: 'COLLSCAN' };
  const direction = plan.reverse ? 'backward' : 'forward';
  const scanOf = (parts: Part[]): Document => {
    const scan = { stage: 'IXSCAN', indexName: parts[0]?.index.spec.name ?? plan.index.spec.name, direction };
    return parts.length > 1 ? { stage: 'SORT_MERGE', inputStage: scan } : scan;
  };
  const scans = (plan.lists ?? [[]]).map(scanOf);
  return { stage: 'FETCH', inputStage: scans.length > 1 ? { stage: 'AND_SORTED', inputStages: scans } : scans[0]! };
}
