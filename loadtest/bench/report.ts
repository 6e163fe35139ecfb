import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { conditions } from './conditions.ts';

/** The machine a figure was taken on, in one line. */
export function machine(): string {
  const system = /^PRETTY_NAME="(.+)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  const [first] = cpus();
  return `${cpus().length} x ${first?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${system}, Node.js ${process.version}`;
}

/** The installed version of BullMQ. */
export const bullVersion = (): string =>
  (createRequire(import.meta.url)('bullmq/package.json') as { version: string }).version;

/** A whole number in a text. */
export const number = (value: number): string => Math.round(value).toLocaleString('en-US');

/** A figure in a text: from 100 on a whole number, below that with `digits` decimals. */
export const figure = (value: number, digits = 1): string => (value >= 100 ? number(value) : value.toFixed(digits));

/** The middle value; of an even number of values, the mean of the middle two. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which a share of the others are. Pure. */
export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** The median of some values, with their range. */
export function medianAndRange(values: number[], digits = 2): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
}

/**
 * Prints a benchmark's result and saves it with the conditions of the run as `loadtest/results/<date>-<name>.md`; returns the path. `peers`:
 * versions of further programs.
 */
export function saveResult(name: string, paragraphs: string[], peers: Record<string, string> = {}): string {
  const text = `${[...paragraphs, conditions(peers)].join('\n\n')}\n`;
  const dir = join(import.meta.dirname, '../results');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${new Date().toISOString().slice(0, 10)}-${name}.md`);
  writeFileSync(file, text);
  console.log(`\n${text}\nsaved in ${file}`);
  return file;
}

/** A bar chart in text, for a report that is read in a terminal or as Markdown. */
export function barChart(title: string, bars: (readonly [label: string, value: number])[]): string {
  const most = Math.max(...bars.map(([, value]) => value));
  const width = Math.max(...bars.map(([label]) => label.length));
  const rows = bars.map(([label, value]) => {
    const bar = '█'.repeat(Math.max(1, Math.round((40 * value) / most)));
    return `${label.padEnd(width)} ${bar} ${figure(value, 2)}`;
  });
  return ['```', title, ...rows, '```'].join('\n');
}
