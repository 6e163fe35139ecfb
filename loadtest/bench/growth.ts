import { writeFileSync } from 'node:fs';
import { RunningFarm, type Scan } from '../../infra/farm/test/support/running-farm.ts';
import { type FarmUsage, PARTS, type PartUsage, usageAtRest } from './farm-usage.ts';
import { drawSeries, growthOf, type Panel, type Series } from './growth-series.ts';
import { machine, saveResult } from './report.ts';

/**
 * Does a farm grow with the number of scans? One node scans targets of all kinds, several at once. After each block of scans the farm is
 * measured when it is idle. Exits with 1 if the last third of the blocks uses more than the middle third.
 *
 *     npm run bench growth -- [scans] [at once]
 */
// The heap of the control plane has its size after 250 scans: the middle third has to begin after that.
const [SCANS = 800, AT_ONCE = 8] = process.argv.slice(2).map(Number);
const BLOCK = Math.max(1, Math.round(SCANS / 10));
const WAIT_SECONDS = 600;

const REFERRER = 'http://news.publisher.example/article';
const FRAME = '<iframe src="http://ads.adserver.example/slot/carousel" width="300" height="250"></iframe>';
const LINK = '<a href="http://go.redirects.example/by/302" target="_blank"><b style="font-size:80px">An ad</b></a>';
const POPUPS = `${LINK}<script>for (let n = 0; n < 4; n += 1) open('http://quiet.shop.example/?' + n)</script>`;
const DIALOGS = `${LINK}<script>for (let n = 0; n < 4; n += 1) alert('you have won')</script>`;
const LEAVING = "<script>setTimeout(() => { top.location = 'http://quiet.shop.example/' }, 300)</script>an ad";

/** What is scanned in turn, and how each ends. */
const KINDS: { target: object; ends: Scan['status'] }[] = [
  { target: { url: 'http://news.publisher.example/' }, ends: 'completed' },
  { target: { url: 'http://go.redirects.example/by/script' }, ends: 'completed' },
  { target: { ad_tag: FRAME, referrer: REFERRER }, ends: 'completed' },
  { target: { vast_tag: 'http://video.adserver.example/tag.xml' }, ends: 'completed' },
  { target: { url: 'http://stuck.offers.example/' }, ends: 'completed' },
  { target: { ad_tag: LINK, referrer: REFERRER }, ends: 'completed' },
  { target: { url: 'http://loud.casino.example/' }, ends: 'completed' },
  { target: { ad_tag: POPUPS, referrer: REFERRER }, ends: 'completed' },
  { target: { url: 'http://odd.redirects.example/loop' }, ends: 'failed' },
  { target: { ad_tag: DIALOGS, referrer: REFERRER }, ends: 'completed' },
  { target: { url: 'http://quiet.shop.example/' }, ends: 'completed' },
  { target: { ad_tag: 'http://ads.adserver.example/slot/rectangle', referrer: REFERRER }, ends: 'completed' },
  { target: { ad_tag: LEAVING, referrer: REFERRER }, ends: 'completed' },
  { target: { vast_tag: 'http://video.adserver.example/nothing.xml' }, ends: 'failed' },
];
const EMULATORS = ['windows_chrome', 'android_phone_pixel_8', 'macos_safari', 'windows_edge', 'ipad_10'];

type Ended = { number: number; status: string; error: string };

async function scan(farm: RunningFarm, number: number): Promise<Ended> {
  const emulator_id = EMULATORS[number % EMULATORS.length];
  const { id } = await farm.submit({ ...KINDS[number % KINDS.length]!.target, emulator_id });
  const { status, error } = await farm.finished(id, WAIT_SECONDS);
  return { number, status, error };
}

async function scanBlock(farm: RunningFarm, from: number): Promise<Ended[]> {
  const waiting = Array.from({ length: BLOCK }, (_, index) => from + index);
  const ended: Ended[] = [];
  const worker = async () => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift())
      ended.push(await scan(farm, number));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ended;
}

/** What is reported of each part, and how much it may vary: a connection that is kept, a spare renderer. */
const QUANTITIES: { of: keyof PartUsage; title: string; unit: string; tolerated: number }[] = [
  { of: 'memory', title: 'Proportional memory, MiB', unit: 'MiB', tolerated: 12 },
  { of: 'descriptors', title: 'Open file descriptors', unit: 'descriptors', tolerated: 8 },
  { of: 'processes', title: 'Processes', unit: 'processes', tolerated: 1 },
];

function panelsOf(usages: FarmUsage[]): Panel[] {
  const panels = QUANTITIES.map(({ of, title, unit, tolerated }) => ({
    title,
    series: PARTS.map((name) => ({ name, unit, tolerated, values: usages.map(({ parts }) => parts[name][of]) })),
  }));
  const files: Series = { name: 'farm', unit: 'files', tolerated: 4, values: usages.map((usage) => usage.files) };
  return [...panels, { title: 'Temporary files and folders', series: [files] }];
}

function rowOf(title: string, series: Series): string {
  const { middle, last, grows } = growthOf(series);
  return `| ${title} | ${series.name} | ${series.values[0]!.toFixed(0)} | ${middle.toFixed(0)} | ${last.toFixed(0)} | ${grows ? '**grows**' : 'steady'} |`;
}

const farm = await new RunningFarm({ ADSWEEP_DEMO: '1', ADSWEEP_SLOTS: String(AT_ONCE) }).ready();
try {
  await farm.says(/report: /);
  const usages: FarmUsage[] = [];
  const ended: Ended[] = [];
  for (let from = 0; from < SCANS; from += BLOCK) {
    ended.push(...(await scanBlock(farm, from)));
    usages.push(await usageAtRest(farm));
    console.log(`${ended.length} scans: ${JSON.stringify(usages.at(-1))}`);
  }
  const panels = panelsOf(usages);
  const labels = usages.map((_, index) => String((index + 1) * BLOCK));
  const otherwise = ended.filter(({ number, status }) => status !== KINDS[number % KINDS.length]!.ends);
  const title = `${ended.length} scans in a row on one node, ${AT_ONCE} at once`;
  const file = saveResult('growth', [
    `# ${title}`,
    `Pages, ad tags, VAST tags, behaviours and failing targets of the ad world in turn, on ${EMULATORS.length} devices. After each ${BLOCK} the farm came to rest and was measured; middle and last are medians of the thirds of ${usages.length} measurements. ${machine()}.`,
    `![what the farm holds](${new Date().toISOString().slice(0, 10)}-growth.svg)`,
    ['| what | of | after the first block | middle | last | verdict |', '|---|---|--:|--:|--:|---|']
      .concat(panels.flatMap(({ title, series }) => series.map((one) => rowOf(title, one))))
      .join('\n'),
    otherwise.length === 0
      ? 'Every scan ended as its target does.'
      : `Ended otherwise: ${otherwise.map(({ number, status, error }) => `${number} ${status} ${error}`).join(', ')}.`,
  ]);
  writeFileSync(file.replace(/\.md$/, '.svg'), drawSeries(title, labels, panels));
  const growing = panels.flatMap(({ title, series }) =>
    series.filter((one) => growthOf(one).grows).map(({ name }) => `${title} of ${name}`),
  );
  if (growing.length > 0) console.error(`grows: ${growing.join(', ')}`);
  process.exitCode = growing.length + otherwise.length > 0 ? 1 : 0;
} finally {
  await farm.close();
}
