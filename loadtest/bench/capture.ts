import { join } from 'node:path';
import { memoryOfTree } from './cpu-of-tree.ts';
import { measureProcess } from './measure-process.ts';
import { type FarmMeasurement, MeasuredFarm, type Measurement } from './measured-farm.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/**
 * The cost of a page scan compared with a bare Playwright loop that loads the same pages and takes the same screenshot: CPU seconds per page
 * and pages per minute, alternating (A B A B ...), medians. Needs a machine that has run `npm start` or `npm test` once.
 */
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const PAGES_A_TURN = Number(process.argv[2] ?? 24);
const TURNS = Number(process.argv[3] ?? 5);
const AT_ONCE = 4;

const pagesOfTurn = Array.from({ length: PAGES_A_TURN }, (_, index) => PAGES[index % PAGES.length]!);

const BARE_LOOP = join(import.meta.dirname, 'bare-loop.ts');

/** MiB of the whole farm: idle, and the most seen while every slot captures. */
async function memory(farm: MeasuredFarm): Promise<{ idle: number; busy: number }> {
  const root = farm.pid;
  const idle = memoryOfTree(root);
  let busy = 0;
  const turn = farm.scanAll(pagesOfTurn);
  const watch = setInterval(() => {
    busy = Math.max(busy, memoryOfTree(root));
  }, 250);
  await turn;
  clearInterval(watch);
  return { idle, busy };
}

const farm = await new MeasuredFarm(AT_ONCE).ready();
await farm.says(/report: /);
const scans: FarmMeasurement[] = [];
const bare: Measurement[] = [];
try {
  const { idle, busy } = await memory(farm);
  for (let turn = 0; turn < TURNS; turn++) {
    bare.push(await measureProcess(BARE_LOOP, [farm.adWorld, String(AT_ONCE), ...pagesOfTurn]));
    scans.push(await farm.scanAll(pagesOfTurn));
    console.log(
      `turn ${turn + 1} of ${TURNS}: bare ${bare.at(-1)?.cpu.toFixed(1)} s CPU, scans ${scans.at(-1)?.cpu.toFixed(1)} s CPU`,
    );
  }
  const perPage = (turns: Measurement[]) => median(turns.map(({ cpu }) => cpu / PAGES_A_TURN));
  const perMinute = (turns: Measurement[]) => median(turns.map(({ seconds }) => (60 * PAGES_A_TURN) / seconds));
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
