import { type Condition, type Conditions, filterOf } from '../filters/filter-conditions.ts';
import { matcherOf } from '../filters/matcher.ts';
import type { IndexTable } from '../indexes/index-table.ts';
import { successor } from '../indexes/key-range.ts';
import type { Fields } from '../stored-document.ts';
import { startOf, textIn } from '../values/key-reader.ts';
import { boundsOf } from './key-bounds.ts';

/**
 * A test of index entries before any document is read. `passes` returns undefined if the key does not decide; `rest` is
 * the filter that remains for a document whose entry passes, null if nothing remains.
 */
export type EntryTest = { passes: (key: Uint8Array) => boolean | undefined; rest: Fields | null };

type Pattern = { part: Fields; at: number; matches: (text: string) => boolean };

/** The test of the patterns for texts in an ascending component of the index; null if there is no such pattern. */
export function entryTestOf(index: IndexTable, { conditions, others }: Conditions): EntryTest | null {
  const patterns = others.flatMap((part) => patternOn(index, part) ?? []);
  if (patterns.length === 0) return null;
  const directions = index.spec.components.map(({ direction }) => direction);
  const passes = (key: Uint8Array): boolean | undefined => {
    for (const { at, matches } of patterns) {
      const text = textIn(key, directions, at);
      if (text === undefined) return undefined;
      if (!matches(text)) return false;
    }
    return true;
  };
  const left = others.filter((other) => !patterns.some(({ part }) => part === other));
  return { passes, rest: filterOf({ conditions, others: left }) };
}

function patternOn(index: IndexTable, part: Fields): Pattern | null {
  const [path = ''] = Object.keys(part);
  const at = index.spec.components.findIndex((component) => component.path === path && component.direction > 0);
  if (at < 0 || index.isArrayAt(at)) return null;
  const test = matcherOf({ text: part[path] });
  return { part, at, matches: (text) => test({ text }) };
}

/**
 * Where the entries go on that may match, after an entry that does not: in the order of reading, none between is one.
 * Null: this one may. Read backward, the place itself is excluded.
 */
export type Skip = (key: Uint8Array, reverse: boolean) => Uint8Array | null;

/**
 * Bounds of a component after one that has bounds itself, as of the moments after a range of owners: of each value of
 * the earlier component, only the entries within the bounds are read. Null: there are no such bounds.
 */
export function skipOf(index: IndexTable, bounded: number, conditions: readonly Condition[]): Skip | null {
  const at = bounded + 1;
  const component = index.spec.components[at];
  if (!component || index.isArrayAt(at)) return null;
  const bounds = boundsOf(
    conditions.filter(({ path }) => path === component.path),
    component.direction,
    false,
  );
  if (!bounds) return null;
  const directions = index.spec.components.map(({ direction }) => direction);
  return (key, reverse) => {
    const start = startOf(key, directions, at);
    if (start < 0) return null;
    const prefix = key.subarray(0, start);
    const { from, to } = bounds.after(prefix);
    if (Buffer.compare(key, from) < 0) return reverse ? prefix : from;
    if (Buffer.compare(key, to) >= 0) return reverse ? to : successor(prefix);
    return null;
  };
}
