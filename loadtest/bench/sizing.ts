import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { machine, saveResult } from './report.ts';

/**
 * What a scan of each kind uses, for the calculator of `control-plane/src/crawling/plan`: time in a slot, CPU of each part, bytes that are
 * stored and bytes through the exit.
 *
 *     npm run bench sizing -- [scans of each kind] [at once]
 */
const [SCANS = 24, AT_ONCE = 3] = process.argv.slice(2).map(Number);
const TOKEN = 'the-metrics-token-of-the-bench';
const ROUTER_PORT = 20_000 + (process.pid % 10_000);

const REFERRER = 'http://news.publisher.example/article';
const KINDS: Record<string, object[]> = {
  page: [{ url: 'http://news.publisher.example/' }, { url: 'http://quiet.shop.example/' }],
  ad_tag: [{ ad_tag: 'http://ads.adserver.example/slot/rectangle', referrer: REFERRER }],
  vast_tag: [{ vast_tag: 'http://video.adserver.example/tag.xml' }],
};
const PARTS = ['browser-node 1', 'control-plane', 'proxy-router', 'redis'] as const;

type Usage = { cpu: Record<string, number>; files: number; exit: number };

async function usageOf(farm: RunningFarm): Promise<Usage> {
  const cpu = Object.fromEntries(PARTS.map((part) => [part, cpuSecondsOfTree(farm.pidOf(part))]));
  const answer = await fetch(`http://127.0.0.1:${ROUTER_PORT}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const text = await answer.text();
  const exit = [...text.matchAll(/^adsweep_gateway_bytes_total\{.*\} (\d+)/gm)].reduce(
    (sum, [, bytes]) => sum + Number(bytes),
    0,
  );
  const sizes = readdirSync(farm.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ path: join(entry.parentPath, entry.name), size: 0 }))
    .map((file) => ({ ...file, size: sizeOf(file.path) }));
  const sum = (of: (path: string) => boolean) =>
    sizes.reduce((total, { path, size }) => total + (of(path) ? size : 0), 0);
  return { cpu, exit, files: sum((path) => path.includes('/objects/')) };
}

/** A file may go while the folder is read. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** A row of the table. */
async function measure(farm: RunningFarm, kind: string, targets: object[]): Promise<string> {
  await scanAll(farm, targets, AT_ONCE);
  const before = await usageOf(farm);
  const seconds = await scanAll(farm, targets, SCANS);
  const after = await usageOf(farm);
  const each = (of: (usage: Usage) => number) => (of(after) - of(before)) / SCANS;
  const cpu = PARTS.map((part) => each((usage) => usage.cpu[part]!).toFixed(3));
  const kilobytes = [each(({ files }) => files), each(({ exit }) => exit)].map((bytes) => (bytes / 1000).toFixed(0));
  return `| ${[kind, seconds.toFixed(1), ...cpu, ...kilobytes].join(' | ')} |`;
}

async function scanAll(farm: RunningFarm, targets: object[], count: number): Promise<number> {
  let [next, milliseconds] = [0, 0];
  const worker = async () => {
    while (next < count) {
      const { id } = await farm.submit(targets[next++ % targets.length]!);
      const { status, error, elapsed_ms } = await farm.finished(id, 300);
      if (status !== 'completed') throw new Error(`a scan is ${status}: ${error}`);
      milliseconds += elapsed_ms;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return milliseconds / 1000 / count;
}

const dataDir = mkdtempSync(join(tmpdir(), 'adsweep-sizing-'));
const settings = { ADSWEEP_DEMO: '1', ADSWEEP_SLOTS: String(AT_ONCE), ADSWEEP_METRICS_TOKEN: TOKEN };
const farm = await new RunningFarm({ ...settings, ADSWEEP_PROXY_PORT: String(ROUTER_PORT) }, dataDir).ready();
try {
  const rows: string[] = [];
  try {
    await farm.says(/report: /);
    for (const [kind, targets] of Object.entries(KINDS)) rows.push(await measure(farm, kind, targets));
  } finally {
    await farm.close();
  }
  // The store has one file again once it is closed.
  const records = sizeOf(join(dataDir, 'store.db'));
  const scans = rows.length * (SCANS + AT_ONCE) + 1;
  saveResult('sizing', [
    '# What a scan uses',
    `${machine()}. ${SCANS} scans of each kind of the local ad world, ${AT_ONCE} at once on one node, after ${AT_ONCE} others. Seconds are those that the API shows (\`elapsed_ms\`); CPU seconds are of a process and all below it (Chromium below the node); kilobytes are what the files and the traffic of the exit grew by. Real pages are heavier than the ad world's. The records of all ${scans} scans, with their indexes and those of an empty store, have ${(records / 1000 / scans).toFixed(0)} kB a scan.`,
    [
      '| kind | seconds | CPU s node | CPU s control plane | CPU s proxy-router | CPU s Redis | kB files | kB through the exit |',
      '|---|--:|--:|--:|--:|--:|--:|--:|',
      ...rows,
    ].join('\n'),
  ]);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
