import { figure, median, percentile } from '../bench/report.ts';

/** A quantity over a run: its middle value and its range. */
export type Quantity = { unit: string; median: number; least: number; most: number; p95: number };

/** One look at a farm, a second after the one before. */
export type Sample = { requested: number; completed: number; waiting: number; nodes: number };

/** A quantity of these values, of which there is at least one. Pure. */
export const quantityOf = (values: number[], unit: string): Quantity => ({
  unit,
  median: median(values),
  least: values.reduce((a, b) => Math.min(a, b)),
  most: values.reduce((a, b) => Math.max(a, b)),
  p95: percentile(values, 0.95),
});

/** A table of two results: what one has beside the other, and whether their medians differ by more than a tenth. Pure. */
export function compareQuantities(before: Record<string, Quantity>, after: Record<string, Quantity>): string {
  const names = Object.keys(before).filter((name) => Object.hasOwn(after, name));
  const rows = names.map((name) => {
    const [a, b] = [before[name]!, after[name]!];
    const change = a.median === 0 ? (b.median === 0 ? 0 : Number.POSITIVE_INFINITY) : (b.median / a.median - 1) * 100;
    const apart = b.least > a.most || b.most < a.least;
    const verdict =
      Math.abs(change) <= 10 ? 'as before' : apart ? 'differs: their ranges are apart' : 'differs within the ranges';
    return `| ${name}, ${a.unit} | ${textOf(a)} | ${textOf(b)} | ${change >= 0 ? '+' : ''}${change.toFixed(0)} % | ${verdict} |`;
  });
  return ['| | first | second | median | |', '| --- | --: | --: | --: | --- |', ...rows].join('\n');
}

/** A quantity in a table: median and range. Pure. */
export const textOf = ({ median: middle, least, most }: Quantity): string =>
  `${figure(middle)} (${figure(least)} to ${figure(most)})`;
