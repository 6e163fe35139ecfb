import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { measureProcess } from './measure-process.ts';
import { MeasuredFarm, type Measurement } from './measured-farm.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/**
 * Pages a minute of the whole farm and of Crawlee's PlaywrightCrawler, each at several concurrencies, of which the best one counts:
 * the same pages, browser, viewport and screenshot, alternating, medians. Of both, the pages in the middle of a longer run are measured: neither
 * the start of a browser counts, nor the end, when fewer pages run at once. Crawlee is installed when this is run, in
 * the versions of `crawlee/package-lock.json`; Adsweep does not need it.
 */
const PAGES = ['http://news.publisher.example/', 'http://quiet.shop.example/', 'http://go.redirects.example/by/302'];
const PAGES_A_ROUND = Number(process.argv[2] ?? 60);
const ROUNDS = Number(process.argv[3] ?? 2);
const FARM_SLOTS = [6, 10];
const CRAWLEE_PAGES = [4, 6];
/** Pages before those that are measured, and after them. */
const BEFORE = 20;
const AFTER = 10;

const urls = Array.from({ length: BEFORE + PAGES_A_ROUND + AFTER }, (_, index) => PAGES[index % PAGES.length]!);

/** The folder that Crawlee is installed in: exactly what the lock file beside this benchmark says, checksums included. */
function installCrawlee(): string {
  const source = join(import.meta.dirname, 'crawlee');
  const folder = join(import.meta.dirname, '../../.tools/crawlee');
  const installed = join(folder, 'node_modules/.package-lock.json');
  const lock = readFileSync(join(source, 'package-lock.json'), 'utf8');
  const isSame = existsSync(installed) && readFileSync(join(folder, 'package-lock.json'), 'utf8') === lock;
  if (isSame) return folder;
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(source, file), join(folder, file));
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error('Crawlee could not be installed');
  return folder;
}

const folder = installCrawlee();
const { version } = createRequire(join(folder, 'package.json'))('@crawlee/playwright/package.json') as {
  version: string;
};
const rounds = new Map<string, Measurement[]>();
const measured = (name: string, round: Measurement) => {
  rounds.set(name, [...(rounds.get(name) ?? []), round]);
  const perMinute = (60 * PAGES_A_ROUND) / round.seconds;
  console.log(
    `${name}: ${perMinute.toFixed(0)} pages a minute, ${(round.cpu / PAGES_A_ROUND).toFixed(2)} s CPU a page`,
  );
};

for (let round = 0; round < ROUNDS; round++)
  for (const [at, slots] of FARM_SLOTS.entries()) {
    const farm = await new MeasuredFarm(slots).ready();
    try {
      await farm.says(/report: /);
      measured(`whole farm, ${slots} slots`, await farm.scanSteadily(urls, BEFORE, PAGES_A_ROUND));
      const args = [folder, farm.adWorld, ...[CRAWLEE_PAGES[at], BEFORE, PAGES_A_ROUND].map(String), ...urls];
      const script = join(import.meta.dirname, 'crawlee-loop.ts');
      measured(`Crawlee, ${CRAWLEE_PAGES[at]} pages at once`, await measureProcess(script, args));
    } finally {
      await farm.close();
    }
  }

const rows = [...rounds].map(([name, all]) => ({
  name,
  perMinute: median(all.map(({ seconds }) => (60 * PAGES_A_ROUND) / seconds)),
  cpu: median(all.map(({ cpu }) => cpu / PAGES_A_ROUND)),
}));
const best = (start: string) =>
  Math.max(...rows.filter(({ name }) => name.startsWith(start)).map(({ perMinute }) => perMinute));
const ratio = best('whole farm') / best('Crawlee');
saveResult('crawlee', [
  '# Pages a minute beside Crawlee',
  `${machine()}; ${ROUNDS} rounds of ${PAGES_A_ROUND} pages (${PAGES.length} different ones), alternating, medians, measured after ${BEFORE} others and while ${AFTER} more wait. @crawlee/playwright ${version}, with the same browser, viewport and whole-page screenshot. A scan watches each page for 1.5 s after it has loaded, and keeps its requests, chain and documents.`,
  ['| what | pages a minute | CPU seconds a page |', '|---|---|---|']
    .concat(rows.map(({ name, perMinute, cpu }) => `| ${name} | ${perMinute.toFixed(0)} | ${cpu.toFixed(2)} |`))
    .join('\n'),
  `Each at its best: the farm does ${ratio.toFixed(2)} times Crawlee's pages a minute.`,
  barChart(
    'pages a minute',
    rows.map(({ name, perMinute }) => [name, perMinute]),
  ),
]);
