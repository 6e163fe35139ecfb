import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Site } from '../../browser-node/test/support/site.ts';
import { RunningFarm, writeExits } from '../../infra/farm/test/support/running-farm.ts';
import { cpuSecondsOfTree } from './cpu-of-tree.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/**
 * The CPU of a sweep of a page with ads, compared with one scan of the page and one ad-tag scan of each of its creatives. Alternating, medians; exits
 * with 1 if the sweep lacks an ad, or costs more than {@link TIMES_MAX} times the others.
 *
 *     npm run bench sweep -- [ads] [rounds]
 */
const [ADS = 25, ROUNDS = 3] = process.argv.slice(2).map(Number);
const TIMES_MAX = 1.2;
const WAIT_SECONDS = 1_200;
const PAGE = 'https://www.town-news.example/';
const SIZES = ['300x250', '728x90', '160x600', '320x50', '970x250'];

const sizeOf = (ad: number) => (SIZES[ad % SIZES.length] as string).split('x') as [string, string];
const pictureOf = (ad: number) => `https://cdn.creatives.example/${sizeOf(ad).join('x')}.svg`;

/** An ad as its server delivers it: a picture that leads to a shop. */
function frameOf(ad: number): string {
  const [width, height] = sizeOf(ad);
  return `<iframe src="https://ib.adnxs.com/tt?unit=${ad}" width="${width}" height="${height}" style="border:0" scrolling="no"></iframe>`;
}

function serve(site: Site): void {
  const text = '<p>The council met on Tuesday to discuss the new bridge over the river.</p>'.repeat(4);
  const slots = Array.from({ length: ADS }, (_, ad) => `${text}<div id="slot-${ad}">${frameOf(ad)}</div>`).join('');
  site.setPage(PAGE, `<!doctype html><title>Town news</title><h1>Town news</h1>${slots}${text}`);
  site.setRoute('https://ib.adnxs.com/tt', (request, response) => {
    const ad = Number(new URL(request.url ?? '', 'https://ib.adnxs.com').searchParams.get('unit'));
    const [width, height] = sizeOf(ad);
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(
        `<!doctype html><body style="margin:0"><a href="https://shop-${ad % 5}.example/?ad=${ad}" target="_blank"><img src="${pictureOf(ad)}" width="${width}" height="${height}" style="display:block"></a>`,
      );
  });
  for (let n = 0; n < SIZES.length; n += 1) {
    const [width, height] = sizeOf(n);
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#27a"/></svg>`;
    site.setText(pictureOf(n), 'image/svg+xml', svg);
    site.setPage(`https://shop-${n}.example/`, `<!doctype html><title>Shop ${n}</title><h1>Offers</h1>${text}`);
  }
}

/** CPU seconds of the whole farm and of its browser node, and the time in seconds. */
type Cost = { farm: number; node: number; seconds: number };

async function costOf(farm: RunningFarm, work: () => Promise<void>): Promise<Cost> {
  const cpu = () => [cpuSecondsOfTree(farm.pid), cpuSecondsOfTree(farm.pidOf('browser-node 1'))] as const;
  const [before, startedAt] = [cpu(), performance.now()];
  await work();
  const after = cpu();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { farm: after[0] - before[0], node: after[1] - before[1], seconds };
}

async function sweep(farm: RunningFarm): Promise<void> {
  const { id } = await farm.submit({ url: PAGE, ad_discovery: true, max_discovered_ads: 25 });
  expectCompleted(await farm.finished(id, WAIT_SECONDS));
  const answer = await farm.call('GET', `/api/v1/scans/${id}/children?limit=100`);
  const { items } = (await answer.json()) as { items: { id: string }[] };
  if (items.length !== ADS) throw new Error(`the sweep found ${items.length} of ${ADS} ads`);
  for (const child of items) expectLanding(await farm.finished(child.id, WAIT_SECONDS));
}

async function single(farm: RunningFarm): Promise<void> {
  const page = await farm.submit({ url: PAGE });
  const tags = [];
  for (let ad = 0; ad < ADS; ad += 1) tags.push(await farm.submit({ ad_tag: frameOf(ad), referrer: PAGE }));
  expectCompleted(await farm.finished(page.id, WAIT_SECONDS));
  for (const { id } of tags) expectLanding(await farm.finished(id, WAIT_SECONDS));
}

type Ended = Awaited<ReturnType<RunningFarm['finished']>>;

function expectCompleted({ id, status, error }: Ended): void {
  if (status !== 'completed') throw new Error(`scan ${id} is ${status}: ${error}`);
}

function expectLanding(scan: Ended): void {
  expectCompleted(scan);
  if (scan.landings.length !== 1) throw new Error(`scan ${scan.id} has ${scan.landings.length} landings`);
}

const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
const site = await Site.start();
serve(site);
const hosts = Object.fromEntries(site.hosts().map((host) => [host, `127.0.0.1:${site.httpsPort}`]));
const farm = new RunningFarm({ ADSWEEP_EXITS_FILE: writeExits(folder, hosts), ADSWEEP_SLOTS: '1' });
const costs: { sweep: Cost; single: Cost }[] = [];
try {
  await farm.ready();
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.push({ sweep: await costOf(farm, () => sweep(farm)), single: await costOf(farm, () => single(farm)) });
    const { sweep: one, single: other } = costs.at(-1) as (typeof costs)[number];
    console.log(`round ${round + 1}: sweep ${one.farm.toFixed(1)} s of CPU, single scans ${other.farm.toFixed(1)} s`);
  }
} finally {
  await farm.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
}
const times = median(costs.map(({ sweep, single }) => sweep.farm / single.farm));
const rows = (['sweep', 'single'] as const).map((kind) => {
  const of = (part: keyof Cost) => median(costs.map((round) => round[kind][part]));
  return [
    kind === 'sweep' ? `a sweep of ${ADS} ads` : `a page scan and ${ADS} ad tags`,
    of('farm'),
    of('node'),
    of('seconds'),
  ] as const;
});
saveResult('sweep', [
  '# A sweep beside single scans of the same creatives',
  `${machine()}; ${ROUNDS} rounds, alternating, one slot, medians.`,
  [
    '| what | CPU seconds, whole farm | browser node alone | seconds |',
    '|---|---|---|---|',
    ...rows.map(([what, ...figures]) => `| ${what} | ${figures.map((one) => one.toFixed(1)).join(' | ')} |`),
  ].join('\n'),
  `The sweep costs ${times.toFixed(2)} times the single scans (rounds: ${costs.map((one) => (one.sweep.farm / one.single.farm).toFixed(2)).join(', ')}); at most ${TIMES_MAX} is required.`,
  barChart(
    'CPU seconds',
    rows.map(([what, cpu]) => [what, cpu]),
  ),
]);
process.exit(times > TIMES_MAX ? 1 : 0);
