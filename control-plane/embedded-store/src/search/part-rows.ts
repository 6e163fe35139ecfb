import type { Conditions } from '../filters/filter-conditions.ts';
import { literalOf } from '../filters/literal-pattern.ts';
import { patternIn } from '../filters/matcher.ts';
import type { PartQuestion } from '../indexes/part-index.ts';
import type { Records } from '../storage/records.ts';
import { countEntries } from './count-entries.ts';
import { type PartsSearch, type Plan, partsSearches } from './plan.ts';

const PAUSE = null;
/** Reading a document costs as much as testing so many entries of an index, or as finding so many rows with a gram. */
const ENTRIES_PER_DOCUMENT = 16;
const GRAMS_PER_DOCUMENT = 4;
const ENTRIES_COUNTED_MAX = 200_000;
/** Rows that are looked through, and those that are found, between two pauses. */
const ROWS_AT_ONCE = 262_144;
const FOUND_AT_ONCE = 1_000;

/**
 * The rows of the documents that may match, because their texts have all characters of a part that is searched, in no
 * order; null: no index finds parts of that text, or the plan reads less.
 */
export function* rowsWithPart(
  records: Records,
  conditions: Conditions,
  plan: Plan,
): Generator<typeof PAUSE, number[] | null> {
  for (const search of partsSearches(records.indexes, conditions)) {
    const { parts } = search;
    const found = parts.unindexed();
    const question = found && questionOf(search, conditions);
    const most = Math.floor((yield* entriesOf(plan, ENTRIES_COUNTED_MAX)) / ENTRIES_PER_DOCUMENT);
    if (!question || question.rows > most * GRAMS_PER_DOCUMENT) continue;
    for (let after = 0; found.length <= most && after < parts.through; ) {
      const to = Math.min(after + ROWS_AT_ONCE, parts.through);
      const next = parts.find(question, after, to, Math.min(FOUND_AT_ONCE, most + 1 - found.length));
      found.push(...next);
      after = next.length < FOUND_AT_ONCE ? to : next.at(-1)!;
      yield PAUSE;
    }
    if (found.length <= most) return found;
  }
  return null;
}

/** The number of entries that a plan reads at most, counted up to `most`. */
function* entriesOf({ index, ranges, points, bounded }: Plan, most: number): Generator<typeof PAUSE, number> {
  return index.counts && !bounded && points.depth === index.spec.countedPrefix
    ? index.counts.sum(points.keys)
    : yield* countEntries(index, ranges, most);
}

/** Whether {@link rowsWithPart} finds rows. */
export function readsByParts(records: Records, conditions: Conditions, plan: Plan): boolean {
  const rows = rowsWithPart(records, conditions, plan);
  for (;;) {
    const { done, value } = rows.next();
    if (done) return value !== null;
  }
}

function questionOf({ parts, prefix, path }: PartsSearch, { others }: Conditions): PartQuestion | null {
  for (const other of others) {
    const literal = path in other ? literalOf(patternIn(other[path])) : null;
    const question = literal === null ? null : parts.question(prefix, literal);
    if (question) return question;
  }
  return null;
}
