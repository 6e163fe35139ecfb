import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireQuiet } from './conditions.ts';
import { environmentAtLoad } from './config.ts';

/**
 * `npm run bench [benchmark] [arguments]`: runs the benchmarks one after another, each once the machine is quiet; their results are saved in
 * `loadtest/results`.
 */
const BENCHMARKS = {
  store: 'operations a second of the embedded store',
  ledger: 'a page of the ledger with 10 and with 1,000,000 entries',
  scans: 'a page of the list of scans with 10,000 and with 1,000,000 scans',
  console: 'the page of the console with 200 scans, of 10,000 and of 1,000,000: served and drawn',
  alerts: 'list, statistics and a bulk change with 10,000 and with 1,000,000 alerts',
  gateway: 'what the gateway costs beside a bare proxy-chain server, and what a pick costs',
  create: 'a POST of a scan beside a bare Koa route with the same validation and insert',
  queue: 'our queue beside BullMQ on one Redis',
  'queue-depth': 'leasing a job with 100 and with 1,000,000 waiting, and the refill of a million',
  crash: "seconds from SIGKILL of a worker to its job's re-run, beside BullMQ",
  webhooks: 'deliveries to webhook endpoints beside bare POSTs and beside BullMQ; slow, dead and idle endpoints',
  'node-api': 'the node API with 200 nodes of 4 slots',
  campaign: 'a campaign of 10,000 scans, and the scans of another organization meanwhile',
  'campaign-lists': 'lists of campaigns and groups, and counters of a run, with 100 and with 10,000 campaigns',
  rules: '5,000 URLs against 1,000 expressions, at once and one by one',
  'event-loop':
    'the longest hold of an event loop by any operation, for an organization that keeps the most that it may',
  hostile: 'hostile pages on one node, and innocent ones between them',
  sizing: 'time, CPU, stored bytes and traffic of a scan of each kind, for the calculator',
  'scale-out': 'four nodes beside one, and how soon the scans of a host that disappears run again',
  tracing: 'what the spans of a scan cost, recorded and not',
  scaler: 'a simulated year under the scaler, drawn',
  growth: 'what a farm holds after each tenth of 800 scans of all kinds',
  garbage: 'bytes that each process allocates for a page scan',
  capture: "a page scan beside a bare Playwright loop and Crawlee's PlaywrightCrawler",
  sweep: 'a sweep of a page with 25 ads beside single scans of the same creatives',
};

const [chosen, ...args] = process.argv.slice(2);
const names = chosen ? [chosen] : Object.keys(BENCHMARKS);
for (const name of names) {
  const script = join(import.meta.dirname, `${name}.ts`);
  if (!Object.hasOwn(BENCHMARKS, name) || !existsSync(script)) {
    console.error(`no benchmark ${name}; there are: ${Object.keys(BENCHMARKS).join(', ')}`);
    process.exit(1);
  }
  console.log(`${name}: ${BENCHMARKS[name as keyof typeof BENCHMARKS]}`);
  const env = environmentAtLoad(await requireQuiet());
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
