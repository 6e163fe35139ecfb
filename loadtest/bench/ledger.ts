import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryAfter, type LedgerEntry, scanPosting } from '../../control-plane/src/accounts/billing/ledger-entry.ts';
import { type LedgerStore, ledgerStore } from '../../control-plane/src/accounts/billing/ledger-store.ts';
import { openStore } from '../../control-plane/src/platform/store.ts';
import { barChart, machine, median, number, saveResult } from './report.ts';

/** Does a page of an organization's ledger cost the same with 10 entries as with 1,000,000? */
const SIZES = [10, 1_000_000];
const ROUNDS = 5;
const ROUND_MS = 400;
const BATCH = 5_000;
const ORGANIZATION = 'organization';

const QUESTIONS: Record<string, (ledger: LedgerStore, size: number) => Promise<unknown>> = {
  'first page': (ledger) => ledger.list(ORGANIZATION, { types: null, created: null }, 0, 5),
  'page in the middle': (ledger, size) => ledger.list(ORGANIZATION, { types: null, created: null }, size / 2, 5),
  'first page of refunds': (ledger) => ledger.list(ORGANIZATION, { types: ['refund'], created: null }, 0, 1),
  'refunds in the middle': (ledger, size) =>
    ledger.list(ORGANIZATION, { types: ['refund'], created: null }, Math.floor(size / 20), 1),
  'booking an entry': async (ledger) => ledger.book(posting(++booked)),
};

let booked = 0;
const posting = (number: number) =>
  scanPosting(
    number % 10 === 0 ? 'refund' : 'charge',
    { organizationId: ORGANIZATION, scanId: `scan-${number}` },
    10_000,
    new Date(1.7e12 + number),
  );

/** Microseconds of each question on a ledger of `size` entries. */
async function measure(size: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const store = await openStore({ path: join(folder, 'store.db') });
  try {
    const ledger = ledgerStore(store);
    await ledger.createIndexes();
    const entries = store.collection<LedgerEntry>('ledger_entries');
    let last: LedgerEntry | null = null;
    for (let from = 0; from < size; from += BATCH) {
      const batch: LedgerEntry[] = [];
      for (let number = from; number < Math.min(size, from + BATCH); number += 1) {
        last = entryAfter(last, posting(number + 1));
        batch.push(last);
      }
      await entries.insertMany(batch);
    }
    booked = size;
    const results = new Map<string, number>();
    for (const [name, ask] of Object.entries(QUESTIONS)) {
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await microseconds(() => ask(ledger, size)));
      results.set(name, median(rounds));
    }
    return results;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function microseconds(ask: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < ROUND_MS; count += 1) await ask();
  return ((performance.now() - start) * 1000) / count;
}

const [small, large] = [await measure(SIZES[0]!), await measure(SIZES[1]!)];
const rows = [...small].map(([name, before]) => {
  const after = large.get(name)!;
  return `| ${name} | ${number(before)} | ${number(after)} | ${(after / before).toFixed(2)} |`;
});
saveResult('ledger', [
  '# The ledger',
  `One organization, embedded store on a file, one caller. Microseconds for each question, median of ${ROUNDS} rounds of ${ROUND_MS} ms.`,
  [
    `| Microseconds | ${SIZES.map((size) => `${number(size)} entries`).join(' | ')} | ratio |`,
    '|---|--:|--:|--:|',
    ...rows,
  ].join('\n'),
  barChart(`Microseconds, ${number(SIZES[1]!)} entries`, [...large]),
  `Machine: ${machine()}.`,
]);
