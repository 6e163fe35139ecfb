import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { RunningFarm } from '../../infra/farm/test/support/running-farm.ts';
import { barChart } from './bar-chart.ts';
import { cpuSecondsOfTree, memoryOfTree } from './cpu-of-tree.ts';
import { machine, median } from './machine.ts';
import { saveResult } from './save-result.ts';

/**
 * What a page scan costs beside a bare Playwright loop that loads the same pages and takes the same screenshot: CPU seconds a page
 * and pages a minute, in turn (A B A B ...), medians. Needs a machine that has run `npm start` or `npm test` once.
 */
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const PAGES_A_TURN = Number(process.argv[2] ?? 24);
const TURNS = Number(process.argv[3] ?? 5);
const AT_ONCE = 4;
const ASK_EVERY_MS = 250;

type Turn = { seconds: number; cpu: number };
type FarmTurn = Turn & { node: number };

/** The farm with its ad world, and what its processes use. */
class MeasuredFarm extends RunningFarm {
  constructor() {
    super({ ADSWEEP_SLOTS: String(AT_ONCE), ADSWEEP_DEMO: '1' });
  }

  /** Where the ad world listens. */
  get adWorld(): string {
    const { hosts } = JSON.parse(readFileSync(join(this.dataDir, 'demo-exits.json'), 'utf8')) as {
      hosts: Record<string, string>;
    };
    return Object.values(hosts)[0] ?? '';
  }

  /** CPU of everything but the ad world, and of the browser node with its browser alone. */
  cpu(): { all: number; node: number } {
    const node = cpuSecondsOfTree(this.pidOf('browser-node 1'));
    return { all: cpuSecondsOfTree(this.pid) - cpuSecondsOfTree(this.pidOf('ad world')), node };
  }
}

const pagesOfTurn = Array.from({ length: PAGES_A_TURN }, (_, index) => PAGES[index % PAGES.length]!);

async function scanTurn(farm: MeasuredFarm): Promise<FarmTurn> {
  const before = farm.cpu();
  const began = performance.now();
  const scans = await Promise.all(pagesOfTurn.map((url) => farm.submit({ url })));
  await untilEnded(farm, scans);
  const seconds = (performance.now() - began) / 1000;
  const after = farm.cpu();
  return { seconds, cpu: after.all - before.all, node: after.node - before.node };
}

/** Asks as seldom as a client would: answers cost CPU, too. */
async function untilEnded(farm: MeasuredFarm, scans: { id: string }[]): Promise<void> {
  for (const { id } of scans) {
    let { status } = await farm.scan(id);
    while (!isFinal(status)) {
      await pause(ASK_EVERY_MS);
      ({ status } = await farm.scan(id));
    }
    if (status !== 'completed') throw new Error(`scan ${id} ended as ${status}`);
  }
}

async function bareTurn(adWorld: string): Promise<Turn> {
  const script = join(import.meta.dirname, 'bare-loop.ts');
  const child = spawn(process.execPath, [script, adWorld, String(AT_ONCE), ...pagesOfTurn], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const gone = new Promise((done) => child.once('exit', done));
  const cpu = () => cpuSecondsOfTree(child.pid ?? 0);
  await word(child);
  const before = cpu();
  child.send('go');
  const { seconds = 0 } = await word(child);
  const after = cpu();
  child.send('end');
  await gone;
  return { seconds, cpu: after - before };
}

/** The next message of a child process; an error when it ends first. */
function word(child: ChildProcess): Promise<{ seconds?: number }> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as { seconds?: number }));
    child.once('exit', (code) => reject(new Error(`the bare loop ended with ${code}`)));
  });
}

/** MiB of the whole farm: idle, and the most seen while every slot captures. */
async function memory(farm: MeasuredFarm): Promise<{ idle: number; busy: number }> {
  const root = farm.pid;
  const idle = memoryOfTree(root);
  let busy = 0;
  const turn = scanTurn(farm);
  const watch = setInterval(() => {
    busy = Math.max(busy, memoryOfTree(root));
  }, 250);
  await turn;
  clearInterval(watch);
  return { idle, busy };
}

const farm = await new MeasuredFarm().ready();
await farm.says(/report: /);
const scans: FarmTurn[] = [];
const bare: Turn[] = [];
try {
  const { idle, busy } = await memory(farm);
  for (let turn = 0; turn < TURNS; turn++) {
    bare.push(await bareTurn(farm.adWorld));
    scans.push(await scanTurn(farm));
    console.log(
      `turn ${turn + 1} of ${TURNS}: bare ${bare.at(-1)?.cpu.toFixed(1)} s CPU, scans ${scans.at(-1)?.cpu.toFixed(1)} s CPU`,
    );
  }
  const perPage = (turns: Turn[]) => median(turns.map(({ cpu }) => cpu / PAGES_A_TURN));
  const perMinute = (turns: Turn[]) => median(turns.map(({ seconds }) => (60 * PAGES_A_TURN) / seconds));
  const ratio = median(scans.map(({ cpu }, turn) => cpu / bare[turn]!.cpu));
  const nodeRatio = median(scans.map(({ node }, turn) => node / bare[turn]!.cpu));
  const rows = [
    ['bare Playwright loop', perPage(bare), perMinute(bare), 1],
    ['browser node alone', median(scans.map(({ node }) => node / PAGES_A_TURN)), perMinute(scans), nodeRatio],
    ['whole farm', perPage(scans), perMinute(scans), ratio],
  ] as const;
  saveResult('capture', [
    `# A page scan beside a bare Playwright loop`,
    `${machine()}; ${TURNS} turns of ${PAGES_A_TURN} pages (${PAGES.length} different ones), ${AT_ONCE} at once, in turn, medians.`,
    ['| what | CPU seconds a page | pages a minute | CPU, times the bare loop |', '|---|---|---|---|']
      .concat(
        rows.map(
          ([what, cpu, pages, times]) => `| ${what} | ${cpu.toFixed(2)} | ${pages.toFixed(0)} | ${times.toFixed(2)} |`,
        ),
      )
      .join('\n'),
    `Memory of the whole farm (proportional set size): ${idle.toFixed(0)} MiB idle, ${busy.toFixed(0)} MiB with ${AT_ONCE} captures running.`,
    barChart(
      'CPU seconds a page',
      rows.map(([what, cpu]) => [what, cpu]),
    ),
  ]);
} finally {
  await farm.close();
}
