import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Allocations, allocatedIn } from './gc-trace.ts';
import { MeasuredFarm } from './measured-farm.ts';
import { barChart, machine, saveResult } from './report.ts';

/**
 * Bytes that each Node.js process of a farm allocates on its heaps for one page scan, those of its threads included: from V8's trace of its
 * garbage collections, in the logs of the services.
 *
 *     npm run bench garbage -- [pages]
 */
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const [COUNT = 120] = process.argv.slice(2).map(Number);
const WARM_UP = 30;
const LOGS = { 'control plane': /^control-plane/, 'browser node': /^browser-node/, 'proxy-router': /^proxy-router/ };

const TRACE = 'data:text/javascript,import v8 from "node:v8"; v8.setFlagsFromString("--trace-gc");';

const urls = (count: number) => Array.from({ length: count }, (_, index) => PAGES[index % PAGES.length]!);
const farm = await new MeasuredFarm(null, { NODE_OPTIONS: `--import=${encodeURI(TRACE)}` }).ready();

function allocations(): Record<keyof typeof LOGS, Allocations> {
  const folder = join(farm.dataDir, 'log');
  const read = (pattern: RegExp) =>
    readdirSync(folder)
      .filter((name) => pattern.test(name))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
  const entries = Object.entries(LOGS).map(([name, pattern]) => [name, allocatedIn(read(pattern))]);
  return Object.fromEntries(entries);
}

try {
  await farm.says(/report: /);
  await farm.scanSteadily(urls(WARM_UP), 1, 1);
  const before = allocations();
  await farm.scanSteadily(urls(COUNT), 1, 1);
  const after = allocations();
  const rows = (Object.keys(LOGS) as (keyof typeof LOGS)[]).map((name) => ({
    name,
    mib: (after[name].bytes - before[name].bytes) / COUNT / 2 ** 20,
    ms: (after[name].pauseMs - before[name].pauseMs) / COUNT,
  }));
  saveResult('garbage', [
    '# Heap allocated for a page scan',
    `${machine()}; ${COUNT} page scans (${PAGES.length} different pages) on a farm at its default, after ${WARM_UP} others. Bytes on the JavaScript heaps, without buffers; time that garbage collections held a thread.`,
    [
      '| process | MiB a scan | ms of collections a scan |',
      '|---|--:|--:|',
      ...rows.map(({ name, mib, ms }) => `| ${name} | ${mib.toFixed(2)} | ${ms.toFixed(2)} |`),
    ].join('\n'),
    barChart(
      'MiB a scan',
      rows.map(({ name, mib }) => [name, mib]),
    ),
  ]);
} finally {
  await farm.close();
}
