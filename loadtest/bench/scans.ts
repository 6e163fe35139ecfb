import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../control-plane/src/platform/store.ts';
import { LIST_INDEXES } from '../../control-plane/src/scan/scan-list-store.ts';
import { type ScanStore, scanStore } from '../../control-plane/src/scan/scan-store.ts';
import type { StoredScan } from '../../control-plane/src/scan/stored-scan.ts';
import { listQuestion, type ScanListQuery } from '../../control-plane/src/scanning/scans/api/list-query.ts';
import { processorTime } from './processor-time.ts';
import { barChart, machine, median, number, saveResult } from './report.ts';
import { FIRST_CREATED, storedScan } from './requests/stored-scans.ts';

/** Does a page of the list of scans cost the same with 10,000 scans as with 1,000,000? */
const SIZES = [10_000, 1_000_000];
const ROUNDS = 3;
const ROUND_MS = 400;
const BATCH = 10_000;
const LIMIT = 50;
const ORGANIZATION = 'organization';

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

type Loaded = { size: number; scans: ScanStore; perSecond: number; close: () => Promise<void> };

async function load(size: number): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const store = await openStore({ path: join(folder, 'store.db') });
  const scans = scanStore(store);
  await store.collection<StoredScan>('scans').createIndexes(LIST_INDEXES);
  const begin = performance.now();
  for (let from = 0; from < size; from += BATCH)
    await store
      .collection<StoredScan>('scans')
      .insertMany(Array.from({ length: BATCH }, (_, n) => storedScan(from + n, ORGANIZATION)));
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

const middleOf = ({ size }: Loaded) => ({ at: new Date(FIRST_CREATED + (size / 2) * 1_000), id: '' });

const QUESTIONS: Record<string, (loaded: Loaded) => Promise<unknown>> = {
  ...Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]) => [name, ({ scans }: Loaded) => page(scans, query)]),
  ),
  'in the middle': (loaded) => page(loaded.scans, {}, middleOf(loaded)),
  'in the middle, by tag': (loaded) => page(loaded.scans, { tag: 'autosound' }, middleOf(loaded)),
};

/** Both sizes in turn, so that other load on the machine affects both. */
async function compare(ask: (loaded: Loaded) => Promise<unknown>): Promise<number[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const times: number[] = [];
    for (const one of loaded) times.push(await processorTime(() => ask(one), ROUND_MS));
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
