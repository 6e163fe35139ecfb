import { VALID_SAMPLE_MAX } from '@adsweep/shared/limits.ts';
import { fold } from './lookup.ts';

/** The longest text that is worth comparing letter by letter. */
const COMPARED_LENGTH_MAX = 100;

/** At most five of `values`, those spelled most like `given` first (spec 2.4, `valid_sample`). */
export function closest(values: readonly string[], given: string): string[] {
  const wanted = fold(given).slice(0, COMPARED_LENGTH_MAX);
  return values
    .map((value, position) => ({ value, position, distance: editDistance(wanted, fold(value)) }))
    .sort((a, b) => a.distance - b.distance || a.position - b.position)
    .slice(0, VALID_SAMPLE_MAX)
    .map(({ value }) => value);
}

/** Levenshtein's distance: letters to add, drop or change. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
