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
const PAGES_A_ROUND = Number(process.argv[2] ?? 24);
const ROUNDS = Number(process.argv[3] ?? 5);
const AT_ONCE = 4;

const pagesOfRound = Array.from({ length: PAGES_A_ROUND }, (_, index) => PAGES[index % PAGES.length]!);

const BARE_LOOP = join(import.meta.dirname, 'bare-loop.ts');

/** MiB of the whole farm: idle, and the most seen while every slot captures. */
async function memory(farm: MeasuredFarm): Promise<{ idle: number; busy: number }> {
  const root = farm.pid;
  const idle = memoryOfTree(root);
  let busy = 0;
  const round = farm.scanAll(pagesOfRound);
  const watch = setInterval(() => {
    busy = Math.max(busy, memoryOfTree(root));
  }, 250);
  await round;
  clearInterval(watch);
  return { idle, busy };
}

const farm = await new MeasuredFarm(AT_ONCE).ready();
await farm.says(/report: /);
const scans: FarmMeasurement[] = [];
const bare: Measurement[] = [];
try {
  const { idle, busy } = await memory(farm);
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await measureProcess(BARE_LOOP, [farm.adWorld, String(AT_ONCE), ...pagesOfRound]));
    scans.push(await farm.scanAll(pagesOfRound));
    console.log(
      `round ${round + 1} of ${ROUNDS}: bare ${bare.at(-1)?.cpu.toFixed(1)} s CPU, scans ${scans.at(-1)?.cpu.toFixed(1)} s CPU`,
    );
  }
  const perPage = (rounds: Measurement[]) => median(rounds.map(({ cpu }) => cpu / PAGES_A_ROUND));
  const perMinute = (rounds: Measurement[]) => median(rounds.map(({ seconds }) => (60 * PAGES_A_ROUND) / seconds));
  const ratio = median(scans.map(({ cpu }, round) => cpu / bare[round]!.cpu));
  const nodeRatio = median(scans.map(({ node }, round) => node / bare[round]!.cpu));
  const rows = [
    ['bare Playwright loop', perPage(bare), perMinute(bare), 1],
    ['browser node alone', median(scans.map(({ node }) => node / PAGES_A_ROUND)), perMinute(scans), nodeRatio],
    ['whole farm', perPage(scans), perMinute(scans), ratio],
  ] as const;
  saveResult('capture', [
    `# A page scan beside a bare Playwright loop`,
    `${machine()}; ${ROUNDS} rounds of ${PAGES_A_ROUND} pages (${PAGES.length} different ones), ${AT_ONCE} at once, alternating, medians.`,
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
