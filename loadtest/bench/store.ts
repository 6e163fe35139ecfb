import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collection, openStore } from '../../control-plane/src/platform/store.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/** A record of about the size and shape of a scan. */
type Thing = {
  _id: string;
  organization_id: string;
  status: string;
  created_at: Date;
  url: string;
  tags: { slug: string; severity: string }[];
  timing: { queued_ms: number; crawl_ms: number };
  note: string;
};

const SIZES = [10_000, 100_000];
const ORGANIZATIONS = 20;
const ROUNDS = 3;
const ROUND_MS = 500;
const CALLERS = 50;

const thing = (n: number): Thing => ({
  _id: `scan-${String(n).padStart(8, '0')}`,
  organization_id: `org-${n % ORGANIZATIONS}`,
  status: 'pending',
  created_at: new Date(1_700_000_000_000 + n * 1000),
  url: `https://publisher-${n % 500}.example/articles/${n}`,
  tags: [
    { slug: `tag-${n % 30}`, severity: 'low' },
    { slug: 'heavy_ad', severity: 'low' },
  ],
  timing: { queued_ms: n % 900, crawl_ms: n % 7000 },
  note: 'x'.repeat(400),
});

/** The operations that are measured on a filled store; `n`: the number of a document, different at each call. */
const QUESTIONS: Record<string, (things: Collection<Thing>, n: number) => Promise<unknown>> = {
  'findOne by id': (things, n) => things.findOne({ _id: thing(n)._id }),
  'findOne by an index': (things, n) => things.findOne({ url: thing(n).url }),
  'updateOne by id': (things, n) => things.updateOne({ _id: thing(n)._id }, { $inc: { 'timing.crawl_ms': 1 } }),
  // The oldest document becomes the newest, so that a pending one always remains.
  'findOneAndUpdate on an index': (things, n) =>
    things.findOneAndUpdate(
      { organization_id: `org-${n % ORGANIZATIONS}`, status: 'pending' },
      { $set: { created_at: new Date() } },
      { sort: { created_at: 1, _id: 1 }, returnDocument: 'after' },
    ),
  'page of 50, newest first': (things, n) =>
    things
      .find({ organization_id: `org-${n % ORGANIZATIONS}` })
      .sort({ created_at: -1, _id: -1 })
      .skip(50)
      .limit(50)
      .toArray(),
  'count of an organization': (things, n) => things.countDocuments({ organization_id: `org-${n % ORGANIZATIONS}` }),
};

const INDEXES: { key: Record<string, 1 | -1>; countedPrefix?: number }[] = [
  { key: { organization_id: 1, created_at: -1, _id: -1 }, countedPrefix: 1 },
  { key: { organization_id: 1, status: 1, created_at: -1, _id: -1 } },
  { key: { url: 1 } },
  { key: { 'tags.slug': 1, created_at: -1 } },
];

/** Operations per second of each kind on a fresh store of `size` documents, inserted one by one. */
async function measure(size: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const store = await openStore({ path: join(folder, 'store.db') });
  try {
    const things = store.collection<Thing>('things');
    await things.createIndexes(INDEXES);
    const results = new Map([
      ['insertOne, four indexes', await insertAll(things, size)],
      [`insertOne, ${CALLERS} callers at once`, await insertTogether(things, size)],
    ]);
    for (const [name, ask] of Object.entries(QUESTIONS)) {
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS; round++) rounds.push(await perSecond((n) => ask(things, (n * 7919) % size)));
      results.set(name, median(rounds));
    }
    return results;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function insertAll(things: Collection<Thing>, size: number): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < size; n++) await things.insertOne(thing(n));
  return (size * 1000) / (performance.now() - start);
}

async function insertTogether(things: Collection<Thing>, first: number): Promise<number> {
  const start = performance.now();
  let inserted = 0;
  const caller = async () => {
    while (performance.now() - start < ROUND_MS) await things.insertOne(thing(first + inserted++));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const rate = (inserted * 1000) / (performance.now() - start);
  await things.deleteMany({ _id: { $gte: thing(first)._id } });
  return rate;
}

async function perSecond(ask: (n: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < ROUND_MS) await ask(count++);
  return (count * 1000) / (performance.now() - start);
}

const results: Map<string, number>[] = [];
for (const size of SIZES) results.push(await measure(size));
const number = (value: number | undefined): string => Math.round(value ?? 0).toLocaleString('en-US');
const table = [
  `| Operations a second | ${SIZES.map((size) => `${number(size)} documents`).join(' | ')} |`,
  `|---|${SIZES.map(() => '--:|').join('')}`,
  ...[...results[0]!.keys()].map((name) => `| ${name} | ${results.map((of) => number(of.get(name))).join(' | ')} |`),
];
saveResult('store', [
  '# The embedded store',
  `One caller that waits for each answer, documents of about 700 bytes on a file, each write committed by itself and answered when it is synced to the disk. Median of ${ROUNDS} rounds of ${ROUND_MS} ms; inserting is timed once.`,
  table.join('\n'),
  barChart(`Operations a second, ${number(SIZES.at(-1))} documents`, [...results.at(-1)!]),
  `Machine: ${machine()}.`,
]);
