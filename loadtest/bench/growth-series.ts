import { median } from './machine.ts';

/** One quantity of one part of the farm, after each block of scans. `tolerated`: how much of it comes and goes without being a leak. */
export type Series = { name: string; unit: string; tolerated: number; values: number[] };

/** How the last third of a series compares with its middle third, by their medians. The first third, in which caches fill, is left out. */
export type Growth = { middle: number; last: number; grows: boolean };

/** A series grows where its last third exceeds its middle third by a tenth and by more than is tolerated. At least six values. Pure. */
export function growthOf({ values, tolerated }: Series): Growth {
  const third = Math.floor(values.length / 3);
  const middle = median(values.slice(-2 * third, -third));
  const last = median(values.slice(-third));
  return { middle, last, grows: last - middle > Math.max(middle / 10, tolerated) };
}
