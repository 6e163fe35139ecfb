import type { CreateIndexesOptions, IndexDescriptionInfo, IndexSpecification } from 'mongodb';
import { CODE, onlyOptions, refusal } from '../refusals.ts';
import type { EmbeddedIndexOptions } from '../store-shape.ts';
import { type Component, sortComponents } from '../values/sort-order.ts';

/** A requested index. */
export type IndexSpec = {
  name: string;
  components: Component[];
  unique: boolean;
  sparse: boolean;
  expireAfterSeconds?: number;
  countedPrefix?: number;
  partsOf?: string;
};

/** The fields of a document that an index has values of: the first segments of the paths of its components. */
export const fieldsOfIndex = ({ components }: Pick<IndexSpec, 'components'>): string[] =>
  components.map(({ segments }) => segments[0]!);

export const ID_INDEX = '_id_';

/** Reads the arguments of `createIndex`. Throws on kinds and options of indexes that this engine does not support. */
export function indexSpec(
  keys: IndexSpecification,
  options: CreateIndexesOptions & EmbeddedIndexOptions = {},
): IndexSpec {
  onlyOptions(options, 'name', 'unique', 'sparse', 'expireAfterSeconds', 'countedPrefix', 'partsOf');
  const components = sortComponents(keys as Parameters<typeof sortComponents>[0]);
  if (components.length === 0) throw refusal(CODE.badValue, 'an index needs a field');
  if (options.expireAfterSeconds !== undefined && components.length > 1) {
    throw refusal(CODE.badValue, 'a TTL index has one field');
  }
  const { countedPrefix, partsOf } = options;
  if (countedPrefix !== undefined && (options.sparse || !(countedPrefix > 0 && countedPrefix <= components.length))) {
    throw refusal(CODE.badValue, `an index of ${components.length} fields cannot count by the first ${countedPrefix}`);
  }
  if (
    partsOf !== undefined &&
    !components.slice(countedPrefix ?? components.length).some(({ path }) => path === partsOf)
  ) {
    throw refusal(CODE.badValue, `an index finds parts of a field after those that it counts by, not of ${partsOf}`);
  }
  return {
    name: options.name ?? components.map(({ path, direction }) => `${path}_${direction}`).join('_'),
    components,
    unique: options.unique === true,
    sparse: options.sparse === true,
    ...(options.expireAfterSeconds !== undefined && { expireAfterSeconds: options.expireAfterSeconds }),
    ...(countedPrefix !== undefined && { countedPrefix }),
    ...(partsOf !== undefined && { partsOf }),
  };
}

export function describe({ name, components, unique, sparse, expireAfterSeconds }: IndexSpec): IndexDescriptionInfo {
  return {
    v: 2,
    key: Object.fromEntries(components.map(({ path, direction }) => [path, direction])),
    name,
    ...(unique && name !== ID_INDEX && { unique }),
    ...(sparse && { sparse }),
    ...(expireAfterSeconds !== undefined && { expireAfterSeconds }),
  };
}

/** Whether the index exists (true) or its name is free (false); throws if another index has the name. */
export function isSameIndex(wanted: IndexSpec, existing: IndexSpec[]): boolean {
  const text = (spec: IndexSpec): string => JSON.stringify(describe(spec));
  const keys = (spec: IndexSpec): string => JSON.stringify(describe(spec).key);
  const rival = existing.find((spec) => spec.name === wanted.name || keys(spec) === keys(wanted));
  if (!rival) return false;
  if (text(rival) === text(wanted)) return true;
  throw refusal(CODE.indexOptionsConflict, `the index ${rival.name} is there already, with other options`);
}
