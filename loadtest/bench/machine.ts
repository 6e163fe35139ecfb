import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** The machine a figure was taken on, in one line. */
export function machine(): string {
  const system = /^PRETTY_NAME="(.+)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  const [first] = cpus();
  return `${cpus().length} x ${first?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${system}, Node.js ${process.version}`;
}

/** The middle value; of an even number of values, the mean of the middle two. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
