import { drawSeries } from '../bench/growth-series.ts';
import { median } from '../bench/report.ts';
import type { Sample } from './quantities.ts';

const SLICES = 12;

/** Charts of a run as SVG: of each twelfth of its time the least, the median and the most of its seconds. At least twelve samples. Pure. */
export function drawRun(title: string, samples: Sample[]): string {
  const slices = Array.from({ length: SLICES }, (_, at) =>
    samples.slice(Math.floor((at * samples.length) / SLICES), Math.floor(((at + 1) * samples.length) / SLICES)),
  );
  const labels = slices.map((_, at) => String(Math.round(((at + 1) * samples.length) / SLICES)));
  const series = (name: string, of: (sample: Sample) => number, by: (values: number[]) => number) => ({
    ...{ name, unit: '', tolerated: 0 },
    values: slices.map((slice) => by(slice.map(of))),
  });
  const range = (of: (sample: Sample) => number) => [
    series('median', of, median),
    series('least', of, (values) => Math.min(...values)),
    series('most', of, (values) => Math.max(...values)),
  ];
  return drawSeries(title, labels, [
    { title: 'Scans requested each second, by seconds of the run', series: range(({ requested }) => requested) },
    { title: 'Scans completed each second', series: range(({ completed }) => completed) },
    { title: 'Scans that wait', series: range(({ waiting }) => waiting) },
    { title: 'Nodes', series: range(({ nodes }) => nodes) },
  ]);
}
