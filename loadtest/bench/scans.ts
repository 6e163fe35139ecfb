import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../control-plane/src/platform/store.ts';
import { filterKeysOf } from '../../control-plane/src/scan/filter-keys.ts';
import type { ScanRecord } from '../../control-plane/src/scan/scan.ts';
import { LIST_INDEXES } from '../../control-plane/src/scan/scan-list-store.ts';
import { type ScanStore, scanStore } from '../../control-plane/src/scan/scan-store.ts';
import type { StoredScan } from '../../control-plane/src/scan/stored-scan.ts';
import { listQuestion, type ScanListQuery } from '../../control-plane/src/scanning/scans/api/list-query.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/** Does a page of the list of scans cost the same with 10,000 scans as with 1,000,000? */
const SIZES = [10_000, 1_000_000];
const ROUNDS = 3;
const ROUND_MS = 400;
const BATCH = 10_000;
const LIMIT = 50;
const ORGANIZATION = 'organization';
const START = 1.7e12;

const QUERIES: Record<string, ScanListQuery> = {
  unfiltered: {},
  'by status': { status: 'failed' },
  'by two statuses': { status: 'completed,partial' },
  'by campaign': { campaign_id: 'campaign-3' },
  'by tag': { tag: 'autosound' },
  'by label': { label_team: 'red' } as ScanListQuery,
  'by country': { country_code: 'DE,FR' },
  'by brand': { brand: 'acme' },
};

/** Scan number `number`, as a finished one is stored. */
function scan(number: number): StoredScan {
  const id = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const at = (ms: number): Date => new Date(START + number * 1_000 + ms);
  const tag = {
    id,
    tag_slug: 'autosound',
    detail: 'Plays sound.',
    url: '',
    surface: 'page' as const,
    created_at: at(9),
  };
  const record: ScanRecord = {
    _id: id,
    organization_id: ORGANIZATION,
    job_id: id,
    job_kind: 'page',
    slot: 0,
    parent_scan_id: null,
    report_token: id,
    target: { kind: 'url', value: `https://shop-${number % 1_000}.example/landing?click=${number}` },
    country_code: ['US', 'DE', 'FR', 'PT'][number % 4]!,
    emulator_id: 'android_phone_pixel_8',
    proxy: { proxy_type: 'mobile', region: '', city: '', isp: '' },
    referrer: 'https://news.example/',
    ignore_first_n_domains: 0,
    labels: { team: ['red', 'green', 'blue'][number % 3]!, order: `nr-${number % 5_000}` },
    campaign_id: number % 2 === 0 ? `campaign-${(number / 2) % 10}` : null,
    run_id: null,
    retry_max_attempts: 1,
    price_micros: 10_000,
    status: number % 10 === 0 ? 'failed' : number % 25 === 1 ? 'partial' : 'completed',
    error: '',
    retry_attempt: 0,
    lost_requeues: 0,
    lease: null,
    exit: null,
    capture: {
      id,
      offer_url: 'https://offer.example/',
      page_title: 'Offer',
      has_screenshot: true,
      crawl_ms: 4_000,
      landings: 1,
    },
    network: 'Example Ads',
    network_host: 'ads.example',
    classification: { brand: number % 7 === 0 ? 'Acme' : null, ai_category: null, iab_v3: null, custom_taxonomies: [] },
    tags: number % 5 === 0 ? [tag] : [],
    created_at: at(0),
    due_at: at(0),
    started_at: at(1),
    crawled_at: at(8),
    checks_claimed_until: null,
    completed_at: at(9),
    event_sequence: 3,
    outbox: [],
  };
  return { ...record, filter_keys: filterKeysOf(record) };
}

type Loaded = { size: number; scans: ScanStore; perSecond: number; close: () => Promise<void> };

async function load(size: number): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const store = await openStore({ path: join(folder, 'store.db') });
  const scans = scanStore(store);
  await store.collection<StoredScan>('scans').createIndexes(LIST_INDEXES);
  const begin = performance.now();
  for (let from = 0; from < size; from += BATCH)
    await store.collection<StoredScan>('scans').insertMany(Array.from({ length: BATCH }, (_, n) => scan(from + n)));
  const perSecond = (size * 1000) / (performance.now() - begin);
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { size, scans, perSecond, close };
}

function page(scans: ScanStore, query: ScanListQuery, after: { at: Date; id: string } | null = null): Promise<unknown> {
  return scans.list(ORGANIZATION, listQuestion(query), { after, skip: 0, limit: LIMIT });
}

const middleOf = ({ size }: Loaded) => ({ at: new Date(START + (size / 2) * 1_000), id: '' });

const QUESTIONS: Record<string, (loaded: Loaded) => Promise<unknown>> = {
  ...Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]) => [name, ({ scans }: Loaded) => page(scans, query)]),
  ),
  'in the middle': (loaded) => page(loaded.scans, {}, middleOf(loaded)),
  'in the middle, by tag': (loaded) => page(loaded.scans, { tag: 'autosound' }, middleOf(loaded)),
};

/** Microseconds of processor time for one query, repeated for a while. */
async function processorTime(ask: () => Promise<unknown>): Promise<number> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  let count = 0;
  for (; performance.now() - start < ROUND_MS; count += 1) await ask();
  const { user, system } = process.cpuUsage(used);
  return (user + system) / count;
}

/** Both sizes in turn, so that other load on the machine affects both. */
async function compare(ask: (loaded: Loaded) => Promise<unknown>): Promise<number[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const times: number[] = [];
    for (const one of loaded) times.push(await processorTime(() => ask(one)));
    rounds.push(times);
  }
  return loaded.map((_, at) => median(rounds.map((times) => times[at]!)));
}

const loaded = [await load(SIZES[0]!), await load(SIZES[1]!)];
const pages = new Map<string, number[]>();
for (const [name, ask] of Object.entries(QUESTIONS)) pages.set(name, await compare(ask));
const searches: number[] = [];
for (const { scans } of loaded) {
  const begin = performance.now();
  await page(scans, { url: 'shop-77.example' });
  searches.push(performance.now() - begin);
}
for (const { close } of loaded) await close();

const number = (value: number): string => Math.round(value).toLocaleString('en-US');
const rows = [...pages].map(([name, times]) => {
  const [before, after] = times as [number, number];
  return `| ${name} | ${number(before)} | ${number(after)} | ${(after / before).toFixed(2)} |`;
});
saveResult('scans', [
  '# Pages of the list of scans',
  `One organization, embedded store on a file, one caller. Microseconds of processor time for a page of ${LIMIT} with its exact total, median of ${ROUNDS} rounds of ${ROUND_MS} ms, both sizes in turn. In the middle: by a cursor. So that loading takes minutes, ids are in the order of creation, and the collection has the indexes of lists alone.`,
  [
    `| Microseconds | ${SIZES.map((size) => `${number(size)} scans`).join(' | ')} | ratio |`,
    '|---|--:|--:|--:|',
    ...rows,
  ].join('\n'),
  barChart(
    `Microseconds, ${number(SIZES[1]!)} scans`,
    [...pages].map(([name, times]) => [name, times[1]!] as [string, number]),
  ),
  `Inserted in batches of ${number(BATCH)}: ${loaded.map(({ perSecond }) => number(perSecond)).join(' and ')} scans a second. A search for a part of a URL, which reads the whole index of URLs, took ${searches.map(number).join(' and ')} ms.`,
  `Machine: ${machine()}.`,
]);
