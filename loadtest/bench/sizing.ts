import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TARGET_KINDS, type TargetKind } from '@adsweep/shared/scan/target.ts';
import { ASSUMED, type ScanCost } from '../../control-plane/src/crawling/plan/measured.ts';
import { type CapacityPlan, planCapacity } from '../../control-plane/src/crawling/plan/plan-capacity.ts';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { machine, saveResult } from './report.ts';

/**
 * What a scan of each kind uses, for the calculator of `control-plane/src/crawling/plan`: time in a slot, CPU of each part, bytes that are
 * stored and bytes through the exit. Then a run of all kinds mixed beside what the calculator says of it with these costs: it fails if they
 * differ by more than 20 %.
 *
 *     npm run bench sizing -- [scans of each kind] [at once]
 */
const [SCANS = 24, AT_ONCE = 3] = process.argv.slice(2).map(Number);
/** More at once than when the costs were measured: near the utilisation that the calculator assumes. */
const MIXED_AT_ONCE = AT_ONCE + 1;
const DIFFERENCE_MAX = 0.2;
const TOKEN = 'the-metrics-token-of-the-bench';
const ROUTER_PORT = 20_000 + (process.pid % 10_000);

const REFERRER = 'http://news.publisher.example/article';
const KINDS: Record<TargetKind, object[]> = {
  url: [{ url: 'http://news.publisher.example/' }, { url: 'http://quiet.shop.example/' }],
  ad_tag: [{ ad_tag: 'http://ads.adserver.example/slot/rectangle', referrer: REFERRER }],
  vast_tag: [{ vast_tag: 'http://video.adserver.example/tag.xml' }],
};
const PARTS = ['browser-node 1', 'control-plane', 'proxy-router', 'redis'] as const;

type Part = (typeof PARTS)[number];
type Usage = { at: number; cpu: Record<Part, number>; files: number; exit: number };
/** What some scans used, each of them on average, and how many ended in a second. */
type Measured = { cost: ScanCost; perSecond: number };

async function usageOf(farm: RunningFarm): Promise<Usage> {
  const cpu = Object.fromEntries(PARTS.map((part) => [part, cpuSecondsOfTree(farm.pidOf(part))])) as Usage['cpu'];
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
  return { at: performance.now(), cpu, exit, files: sum((path) => path.includes('/objects/')) };
}

/** A file may go while the folder is read. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** What `count` scans of these targets used, after as many as run at once. */
async function measure(farm: RunningFarm, targets: object[], count: number, atOnce: number): Promise<Measured> {
  await scanAll(farm, targets, atOnce, atOnce);
  const before = await usageOf(farm);
  const seconds = await scanAll(farm, targets, count, atOnce);
  const after = await usageOf(farm);
  const each = (of: (usage: Usage) => number) => (of(after) - of(before)) / count;
  const [nodeCpu, controlCpu, routerCpu, redisCpu] = PARTS.map((part) => each(({ cpu }) => cpu[part]));
  return {
    cost: {
      ...{ seconds, nodeCpu: nodeCpu!, controlCpu: controlCpu!, routerCpu: routerCpu!, redisCpu: redisCpu! },
      ...{ fileBytes: each(({ files }) => files), exitBytes: each(({ exit }) => exit) },
    },
    perSecond: (count / (after.at - before.at)) * 1000,
  };
}

async function scanAll(farm: RunningFarm, targets: object[], count: number, atOnce: number): Promise<number> {
  let [next, milliseconds] = [0, 0];
  const worker = async () => {
    while (next < count) {
      const { id } = await farm.submit(targets[next++ % targets.length]!);
      const { status, error, elapsed_ms } = await farm.finished(id, 300);
      if (status !== 'completed') throw new Error(`a scan is ${status}: ${error}`);
      milliseconds += elapsed_ms;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return milliseconds / 1000 / count;
}

/** The row of a kind. */
function rowOf(kind: TargetKind, cost: ScanCost): string {
  const { seconds, nodeCpu, controlCpu, routerCpu, redisCpu, fileBytes, exitBytes } = cost;
  const cpu = [nodeCpu, controlCpu, routerCpu, redisCpu].map((one) => one.toFixed(3));
  const kilobytes = [fileBytes, exitBytes].map((bytes) => (bytes / 1000).toFixed(0));
  return `| ${[kind === 'url' ? 'page' : kind, seconds.toFixed(1), ...cpu, ...kilobytes].join(' | ')} |`;
}

type Comparison = { what: string; planned: number; measured: number; digits: number };

/** The calculator is asked for so many such machines, because it rounds up. */
const MACHINES = 1_000;

/** The mixed run beside the calculator's figures for its scans, a third of each kind. */
function comparisonsOf(costs: Record<TargetKind, ScanCost>, { cost, perSecond }: Measured): Comparison[] {
  const { node } = ASSUMED;
  const scansPerDay = perSecond * 86_400;
  const plans = TARGET_KINDS.map((kind) => {
    const ofKind = (MACHINES * scansPerDay) / TARGET_KINDS.length;
    return planCapacity({ kind, scansPerDay: ofKind, peakFactor: 1, keepDays: 1 }, costs);
  });
  const sum = (of: (plan: CapacityPlan) => number) => plans.reduce((total, plan) => total + of(plan), 0) / MACHINES;
  const coresOf = (plan: CapacityPlan) =>
    plan.nodes.usedCores + plan.controlPlanes.usedCores + plan.proxyRouters.usedCores + plan.redis.usedCores;
  const { seconds, nodeCpu, controlCpu, routerCpu, redisCpu, fileBytes, exitBytes } = cost;
  const cores = perSecond * (nodeCpu + controlCpu + routerCpu + redisCpu);
  const oneMachine = (plan: CapacityPlan) => plan.limits.find(({ part }) => part.includes('one machine'))!.scansPerDay;
  return [
    { what: 'cores, all parts', planned: sum(coresOf), measured: cores, digits: 2 },
    { what: 'cores, node', planned: sum((plan) => plan.nodes.usedCores), measured: perSecond * nodeCpu, digits: 2 },
    {
      what: 'cores, control plane',
      planned: sum((plan) => plan.controlPlanes.usedCores),
      measured: perSecond * controlCpu,
      digits: 3,
    },
    // The calculator plans slots that are busy for this share of the time.
    {
      what: 'busy slots',
      planned: sum((plan) => plan.slots) * ASSUMED.utilisation,
      measured: perSecond * seconds,
      digits: 2,
    },
    {
      what: 'files, GB a day',
      planned: sum((plan) => plan.files.bytesPerDay) / 1e9,
      measured: (scansPerDay * fileBytes) / 1e9,
      digits: 2,
    },
    {
      what: 'through the exit, GB a day',
      planned: sum((plan) => plan.exits.bytesPerDay) / 1e9,
      measured: (scansPerDay * exitBytes) / 1e9,
      digits: 2,
    },
    // A machine that does a third of each kind: the harmonic mean.
    {
      what: `scans a day of one machine of ${node.cores} cores`,
      planned: plans.length / plans.reduce((total, plan) => total + 1 / oneMachine(plan), 0),
      measured:
        scansPerDay * ASSUMED.utilisation * Math.min(node.cores / cores, node.slots / (perSecond * cost.seconds)),
      digits: 0,
    },
  ];
}

const dataDir = mkdtempSync(join(tmpdir(), 'adsweep-sizing-'));
const settings = { ADSWEEP_DEMO: '1', ADSWEEP_SLOTS: String(MIXED_AT_ONCE), ADSWEEP_METRICS_TOKEN: TOKEN };
const farm = await new RunningFarm({ ...settings, ADSWEEP_PROXY_PORT: String(ROUTER_PORT) }, dataDir).ready();
try {
  const costs = {} as Record<TargetKind, ScanCost>;
  let mixed: Measured;
  try {
    await farm.says(/report: /);
    for (const kind of TARGET_KINDS) {
      costs[kind] = (await measure(farm, KINDS[kind], SCANS, AT_ONCE)).cost;
      console.log(rowOf(kind, costs[kind]));
    }
    // A target of each kind in turn, so that all kinds have as many scans.
    const targets = [0, 1].flatMap((at) => TARGET_KINDS.map((kind) => KINDS[kind][at % KINDS[kind].length]!));
    mixed = await measure(farm, targets, SCANS * TARGET_KINDS.length, MIXED_AT_ONCE);
  } finally {
    await farm.close();
  }
  // The store has one file again once it is closed.
  const records = sizeOf(join(dataDir, 'store.db'));
  const scans = TARGET_KINDS.length * (2 * SCANS + AT_ONCE) + MIXED_AT_ONCE + 1;
  const compared = comparisonsOf(costs, mixed).map((one) => ({ ...one, ratio: one.measured / one.planned }));
  const differing = compared.filter(({ ratio }) => Math.abs(ratio - 1) > DIFFERENCE_MAX);
  saveResult('sizing', [
    '# What a scan uses',
    `${machine()}. ${SCANS} scans of each kind of the local ad world, ${AT_ONCE} at once on one node, after ${AT_ONCE} others. Seconds are those that the API shows (\`elapsed_ms\`); CPU seconds are of a process and all below it (Chromium below the node); kilobytes are what the files and the traffic of the exit grew by. Real pages are heavier than the ad world's. The records of all ${scans} scans, with their indexes and those of an empty store, have ${(records / 1000 / scans).toFixed(0)} kB a scan.`,
    [
      '| kind | seconds | CPU s node | CPU s control plane | CPU s proxy-router | CPU s Redis | kB files | kB through the exit |',
      '|---|--:|--:|--:|--:|--:|--:|--:|',
      ...TARGET_KINDS.map((kind) => rowOf(kind, costs[kind])),
    ].join('\n'),
    `Then ${SCANS * TARGET_KINDS.length} scans of all kinds mixed, ${MIXED_AT_ONCE} at once, and what the calculator says of as many scans a second with the costs above:`,
    [
      '| | calculator | measured | measured / calculator |',
      '|---|--:|--:|--:|',
      ...compared.map(
        ({ what, planned, measured, digits, ratio }) =>
          `| ${what} | ${planned.toFixed(digits)} | ${measured.toFixed(digits)} | ${ratio.toFixed(2)} |`,
      ),
    ].join('\n'),
    differing.length === 0
      ? `All agree within ${DIFFERENCE_MAX * 100} %.`
      : `**More than ${DIFFERENCE_MAX * 100} % apart: ${differing.map(({ what }) => what).join('; ')}.**`,
  ]);
  process.exitCode = differing.length === 0 ? 0 : 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
