import { type Conditions, filterOf } from '../filters/filter-conditions.ts';
import { matcherOf } from '../filters/matcher.ts';
import type { IndexTable } from '../indexes/index-table.ts';
import type { Fields } from '../stored-document.ts';
import { textIn } from '../values/key-reader.ts';

/**
 * A test of index entries before any document is read. `passes` returns undefined if the key does not decide; `rest` is the filter that
 * remains for a document whose entry passes, null if nothing remains.
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
