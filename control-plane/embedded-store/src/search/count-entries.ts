import type { EntryPosition, IndexTable } from '../indexes/index-table.ts';
import type { KeyRange } from '../indexes/key-range.ts';

const PAUSE = null;
/** Entries that are counted in one piece. */
const AT_ONCE = 10_000;

/** The number of entries in the ranges, counted up to `most`, with pauses; the return value is the number. */
export function* countEntries(
  index: IndexTable,
  ranges: readonly KeyRange[],
  most = Number.POSITIVE_INFINITY,
): Generator<typeof PAUSE, number> {
  let [total, looked] = [0, 0];
  for (const range of ranges) {
    let from: EntryPosition | null = { key: range.from, row: 0 };
    while (from && total < most) {
      const here = index.countFrom(from, range.to, AT_ONCE);
      [total, looked] = [total + here, looked + here + 1];
      from = here < AT_ONCE ? null : index.entryAfter(from, range.to, AT_ONCE);
      if (looked < AT_ONCE) continue;
      looked = 0;
      yield PAUSE;
    }
  }
  return Math.min(total, most);
}
