import { Aggregator } from 'mingo/aggregator';
import type { Document } from 'mongodb';
import { asRefusal, MINGO_OPTIONS } from '../filters/matcher.ts';
import { CODE, refusal } from '../refusals.ts';
import type { Records } from '../storage/records.ts';
import type { Fields } from '../stored-document.ts';
import { sortComponents } from '../values/sort-order.ts';
import { findRows } from './find-rows.ts';

/** What of a pipeline is a plain search, and the stages that are left. */
type Split = { filter: object; order: ReturnType<typeof sortComponents>; limit: number; stages: Document[] };

/** Runs a pipeline: the stages at its head that an index can serve by a search, the others by mingo, in memory. */
export function aggregate(
  records: Records | undefined,
  pipeline: readonly Document[],
  others: (name: string) => Records | undefined,
): Iterator<Fields> {
  const { stages, ...search } = splitPipeline(pipeline);
  const options = { ...MINGO_OPTIONS, collectionResolver: (name: string) => documents(others(name), {}) };
  return asRefusal(() => {
    const results: unknown = new Aggregator(stages, options).run(documents(records, search));
    return (results as Fields[]).values();
  });
}

function documents(records: Records | undefined, search: Partial<Split>): Fields[] {
  if (!records) return [];
  return Array.from(findRows(records, search.filter ?? {}, search), ({ fields }) => fields);
}

function splitPipeline(pipeline: readonly Document[]): Split {
  const split: Split = { filter: {}, order: [], limit: 0, stages: pipeline.map(singleStage) };
  const take = (name: string): unknown => (name in (split.stages[0] ?? {}) ? split.stages.shift()?.[name] : undefined);
  split.filter = (take('$match') as object | undefined) ?? {};
  split.order = sortComponents(take('$sort') as Parameters<typeof sortComponents>[0]);
  const limit = take('$limit');
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) > 0)) {
    throw refusal(CODE.badValue, '$limit needs a whole number above 0');
  }
  split.limit = (limit as number | undefined) ?? 0;
  return split;
}

function singleStage(stage: Document): Document {
  if (Object.keys(stage).length !== 1) throw refusal(CODE.badValue, 'a stage of a pipeline has one operator');
  return stage;
}
