import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planCapacity } from '../../src/crawling/plan/plan-capacity.ts';

/** The tables of infra/CAPACITY.md. `node control-plane/test/support/capacity-table.ts` writes them. */

const DOCUMENT = join(import.meta.dirname, '../../../infra/CAPACITY.md');
const [BEGIN, END] = ['<!-- made by control-plane/test/support/capacity-table.ts -->', '<!-- end -->'];
const SIZES = [1e4, 1e5, 1e6, 1e7, 1e8];

const whole = (value: number) => Math.round(value).toLocaleString('en');
const short = (value: number) => Number(value.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: 3 });
const row = (cells: string[]) => `| ${cells.join(' | ')} |`;

function tables(): string {
  const plans = SIZES.map((scansPerDay) => planCapacity({ scansPerDay, kind: 'ad_tag', peakFactor: 3, keepDays: 30 }));
  const of = (name: string, cell: (plan: (typeof plans)[number]) => string) => row([name, ...plans.map(cell)]);
  const sizes = [
    row(['scans a day', ...SIZES.map(whole)]),
    row(['---', ...SIZES.map(() => '--:')]),
    of('scans a second at the peak', ({ peakPerSecond }) => short(peakPerSecond)),
    of('slots', ({ slots }) => whole(slots)),
    of('nodes of 2 cores', ({ nodes }) => whole(nodes.count)),
    of('their memory, GB', ({ nodes }) => whole(nodes.memoryBytes / 1e9)),
    of('control planes', ({ controlPlanes }) => whole(controlPlanes.count)),
    of('proxy-routers', ({ proxyRouters }) => whole(proxyRouters.count)),
    of('Redis servers', ({ redis }) => whole(redis.shards)),
    of('MongoDB shards', ({ mongodb }) => whole(mongodb.shards)),
    of('records, GB a day', ({ mongodb }) => short(mongodb.bytesPerDay / 1e9)),
    of('files, GB a day', ({ files }) => short(files.bytesPerDay / 1e9)),
    of('traffic of the exits, GB a day', ({ exits }) => short(exits.bytesPerDay / 1e9)),
  ];
  const limits = [
    row(['breaks at scans a day', 'what', 'whose limit it is', 'what raises it']),
    row(['--:', '---', '---', '---']),
    ...plans[0]!.limits.map(({ scansPerDay, part, engine, remedy }) =>
      row([Number(scansPerDay.toPrecision(2)).toLocaleString('en'), part, engine, remedy]),
    ),
  ];
  return [BEGIN, sizes.join('\n'), limits.join('\n'), END].join('\n\n');
}

/** The document with its tables as the calculator makes them now. */
export function capacityDocument(): { kept: string; made: string } {
  const kept = readFileSync(DOCUMENT, 'utf8');
  const [from, to] = [kept.indexOf(BEGIN), kept.indexOf(END)];
  if (from === -1 || to === -1) throw new Error('CAPACITY.md has no place for its tables');
  return { kept, made: kept.slice(0, from) + tables() + kept.slice(to + END.length) };
}

if (import.meta.main) writeFileSync(DOCUMENT, capacityDocument().made);
