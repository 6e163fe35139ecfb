import type { Sort, SortDirection } from 'mongodb';
import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { KeyWriter } from './key-writer.ts';
import { indexedValues, splitPath } from './path-values.ts';
import { compareValues, TAG, writeValue } from './value-key.ts';

/** One component of a sort or of an index: a path and its direction, ascending (1) or descending (-1). */
export type Component = { path: string; segments: string[]; direction: 1 | -1 };

const DIRECTIONS = new Map<unknown, 1 | -1>([
  ...([1, '1', 'asc', 'ascending'] as const).map((word) => [word, 1] as const),
  ...([-1, '-1', 'desc', 'descending'] as const).map((word) => [word, -1] as const),
]);

function component(path: string, direction: unknown): Component {
  const known = DIRECTIONS.get(direction);
  if (!known) throw refusal(CODE.badValue, `no direction: ${String(direction)} (of ${path})`);
  return { path, segments: splitPath(path), direction: known };
}

/** All forms of a sort that the driver accepts: a name, names, pairs, an object, a map. */
export function sortComponents(sort: Sort | string | undefined, direction?: SortDirection): Component[] {
  if (sort === undefined) return [];
  if (typeof sort === 'string') return [component(sort, direction ?? 1)];
  if (sort instanceof Map) return [...sort].map(([path, way]) => component(path, way));
  if (!Array.isArray(sort)) return Object.entries(sort).map(([path, way]) => component(path, way));
  if (sort.every((part) => typeof part === 'string')) {
    const [path, way] = sort;
    if (sort.length === 2 && DIRECTIONS.has(way)) return [component(path!, way)];
    return sort.map((name) => component(name, 1));
  }
  return (sort as [string, SortDirection][]).map(([path, way]) => component(path, way));
}

/**
 * A key by which documents sort, compared byte by byte. An array sorts by its smallest (ascending) or largest
 * (descending) element.
 */
export function sortKey(fields: Fields, order: readonly Component[]): Buffer {
  const writer = new KeyWriter();
  for (const { segments, direction } of order) {
    const { values } = indexedValues(fields, segments);
    writeComponent(writer, extreme(values, direction), direction);
  }
  return writer.bytes();
}

function extreme(values: unknown[], direction: 1 | -1): unknown {
  if (values.length < 2) return values[0];
  return values.reduce((best, value) => (compareValues(value, best) * direction < 0 ? value : best));
}

export function writeComponent(writer: KeyWriter, value: unknown, direction: 1 | -1): void {
  const start = writer.length;
  if (Array.isArray(value) && value.length === 0) writer.byte(TAG.emptyArray);
  else writeValue(writer, value);
  if (direction < 0) writer.invertFrom(start);
}
