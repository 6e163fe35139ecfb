import { join } from 'node:path';
import { memoryOfTree } from './cpu-of-tree.ts';
import { installCrawlee } from './install-crawlee.ts';
import { type Measurement, measureProcess } from './measure-process.ts';
import { MeasuredFarm } from './measured-farm.ts';
import { PROCESS_KINDS, type ProcessKind } from './process-kinds.ts';
import { barChart, machine, median, medianAndRange, saveResult } from './report.ts';

/**
 * The cost and the rate of page scans beside a bare Playwright loop and Crawlee's PlaywrightCrawler. All load the same pages in the same Chromium with
 * the same flags, in one context a page, and take the same screenshot. Of each, pages in the middle of a longer run are measured: neither the
 * start of a browser counts, nor the end, when fewer pages run at once. In turn, every second round in reverse; ratios are of one round.
 * Crawlee is installed when this is run. Needs a machine that has run `npm start` or `npm test` once.
 *
 *     npm run bench capture -- [pages a round] [rounds] [slots of the farm, 0: its default]
 */
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const [PAGES_A_ROUND = 60, ROUNDS = 5, SLOTS = 0] = process.argv.slice(2).map(Number);
const BARE_AT_ONCE = 4;
const CRAWLEE_AT_ONCE = [4, 6, 8, 10];
/** Pages before those that are measured, and after them. */
const [BEFORE, AFTER] = [20, 12];
const IDLE_SECONDS = 10;
/** The most that a scan may cost, in the CPU time of the bare loop, and the least pages a minute, in those of Crawlee. */
const [CPU_TIMES_MAX, PAGES_TIMES_MIN] = [1.2, 0.9];

const urls = Array.from({ length: BEFORE + PAGES_A_ROUND + AFTER }, (_, index) => PAGES[index % PAGES.length]!);
const crawlee = installCrawlee();

const FARM = SLOTS > 0 ? `whole farm, ${SLOTS} slots` : 'whole farm at its default';
const BARE = `bare Playwright loop, ${BARE_AT_ONCE} at once`;
const crawleeAt = (atOnce: number) => `Crawlee, ${atOnce} at once`;

const loop = (script: string, args: (string | number)[]) =>
  measureProcess(join(import.meta.dirname, script), [...args.map(String), ...urls]);

const farm = await new MeasuredFarm(SLOTS > 0 ? SLOTS : null).ready();
const subjects: [name: string, measure: () => Promise<Measurement>][] = [
  [BARE, () => loop('bare-loop.ts', [farm.adWorld, BARE_AT_ONCE, BEFORE, PAGES_A_ROUND])],
  ...CRAWLEE_AT_ONCE.map((atOnce): [string, () => Promise<Measurement>] => [
    crawleeAt(atOnce),
    () => loop('crawlee-loop.ts', [crawlee.folder, farm.adWorld, atOnce, BEFORE, PAGES_A_ROUND]),
  ]),
  [FARM, () => farm.scanSteadily(urls, BEFORE, PAGES_A_ROUND)],
];

const rounds = new Map(subjects.map(([name]) => [name, [] as Measurement[]]));
const of = (name: string): Measurement[] => rounds.get(name) ?? [];
const perPage = ({ cpu }: Measurement) => cpu / PAGES_A_ROUND;
const perMinute = ({ seconds }: Measurement) => (60 * PAGES_A_ROUND) / seconds;
/** The ratios of the rounds in which both were measured. */
const ratios = (name: string, other: string, figure: (one: Measurement) => number) =>
  of(name).map((one, round) => figure(one) / figure(of(other)[round]!));

/** MiB of the whole farm: idle, and the most seen while every slot captures; and the cores that it uses while it is idle. */
async function atRestAndBusy() {
  const idleCores = await farm.idleCores(IDLE_SECONDS);
  const idle = memoryOfTree(farm.pid);
  let busy = 0;
  const watch = setInterval(() => {
    busy = Math.max(busy, memoryOfTree(farm.pid));
  }, 1_000);
  await farm.scanSteadily(urls, BEFORE, PAGES_A_ROUND).finally(() => clearInterval(watch));
  return { idle, busy, idleCores };
}

try {
  await farm.says(/report: /);
  const memory = await atRestAndBusy();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, measure] of round % 2 ? subjects.toReversed() : subjects) {
      const one = await measure();
      of(name).push(one);
      console.log(`${name}: ${perPage(one).toFixed(3)} s CPU a page, ${perMinute(one).toFixed(0)} pages a minute`);
    }

  const ratePerMinute = (atOnce: number) => median(of(crawleeAt(atOnce)).map(perMinute));
  const best = crawleeAt(CRAWLEE_AT_ONCE.toSorted((a, b) => ratePerMinute(b) - ratePerMinute(a))[0]!);
  const costs = ratios(FARM, BARE, perPage);
  const rates = ratios(FARM, best, perMinute);
  const isMet = median(costs) <= CPU_TIMES_MAX && median(rates) >= PAGES_TIMES_MIN;
  const split = (name: string, kind: ProcessKind) =>
    median(of(name).map(({ byKind }) => byKind[kind] / PAGES_A_ROUND)).toFixed(3);
  saveResult(
    'capture',
    [
      '# A page scan beside a bare Playwright loop and Crawlee',
      `${machine()}; ${ROUNDS} rounds of ${PAGES_A_ROUND} pages (${PAGES.length} different ones), in turn and every second round in reverse, measured after ${BEFORE} others and while ${AFTER} more wait. Medians with ranges; ratios are of one round each. All have the same Chromium and flags, a warm browser, one context a page, the viewport of the emulated device and a JPEG of quality 90 of the whole page.`,
      [
        '| what | CPU seconds a page | pages a minute | CPU, times the bare loop | pages a minute, times the best of Crawlee |',
        '|---|--:|--:|--:|--:|',
        ...subjects.map(([name]) =>
          [
            '',
            name,
            medianAndRange(of(name).map(perPage), 3),
            medianAndRange(of(name).map(perMinute), 0),
            medianAndRange(ratios(name, BARE, perPage)),
            medianAndRange(ratios(name, best, perMinute)),
            '',
          ]
            .join(' | ')
            .trim(),
        ),
      ].join('\n'),
      `The farm costs ${median(costs).toFixed(2)} times the CPU of the bare loop (at most ${CPU_TIMES_MAX} is required) and does ${median(rates).toFixed(2)} times the pages a minute of Crawlee at its best, ${best} (at least ${PAGES_TIMES_MIN}): ${isMet ? 'both hold' : '**not both hold**'}.`,
      'CPU seconds a page by process:',
      [
        `| process | ${FARM} | ${BARE} | ${best} |`,
        '|---|--:|--:|--:|',
        ...PROCESS_KINDS.map(
          (kind) => `| ${kind} | ${[FARM, BARE, best].map((name) => split(name, kind)).join(' | ')} |`,
        ),
      ].join('\n'),
      `What a scan does more: its traffic passes a gateway that checks and counts it; it emulates a device in every frame and worker; it watches each page for 1.5 s after it has loaded and scrolls through it; it records requests, chain, documents, contents, behaviours and fingerprints, and stores and judges them. The other two run Chromium without its sandbox, and record nothing but the screenshot, which they discard. The farm was idle while the others ran, and used ${memory.idleCores.toFixed(3)} cores.`,
      `Memory of the whole farm (proportional set size): ${memory.idle.toFixed(0)} MiB idle, ${memory.busy.toFixed(0)} MiB with every slot at work.`,
      barChart(
        'CPU seconds a page',
        subjects.map(([name]) => [name, median(of(name).map(perPage))]),
      ),
      barChart(
        'pages a minute',
        subjects.map(([name]) => [name, median(of(name).map(perMinute))]),
      ),
    ],
    { Crawlee: crawlee.version },
  );
} finally {
  await farm.close();
}
