import { existsSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAlertQuery } from '../../control-plane/src/delivery/alerts/alert-query.ts';
import { type AlertStore, alertStore } from '../../control-plane/src/delivery/alerts/alert-store.ts';
import { changeMatching, changeNamed } from '../../control-plane/src/delivery/alerts/change-alerts.ts';
import type { AlertStatus } from '../../control-plane/src/platform/outbox/outbox-entry.ts';
import { openStore, type Store } from '../../control-plane/src/platform/store.ts';
import { processorTime } from './processor-time.ts';
import { machine, median, number, saveResult } from './report.ts';
import { storedAlert } from './requests/stored-alerts.ts';

/**
 * Do the list, the statistics and a bulk change of alerts cost the same with 1,000,000 alerts as with 10,000?
 *
 *     npm run bench alerts -- [folder]
 *
 * With a folder the stores are kept there, and used again by the next run: filling the large one takes minutes.
 */
const SIZES = [10_000, 1_000_000];
const ROUNDS = 3;
const ROUND_MS = 300;
const BATCH = 5_000;
const LIMIT = 50;
const CHANGED = 200;
const RATIO_MAX = 1.5;
const ORGANIZATION = 'organization';

type Query = Parameters<typeof readAlertQuery>[0];
type Loaded = { size: number; store: Store; alerts: AlertStore; perSecond: number; bytes: number };

const folder = process.argv[2] ?? join(tmpdir(), `adsweep-bench-alerts-${process.pid}`);

async function load(size: number): Promise<Loaded> {
  const path = join(folder, `alerts-${size}.db`);
  const isFilled = existsSync(path);
  mkdirSync(folder, { recursive: true });
  const store = await openStore({ path });
  const alerts = alertStore(store);
  await alerts.createIndexes();
  const begin = performance.now();
  for (let from = 0; from < size && !isFilled; from += BATCH)
    await alerts.add(Array.from({ length: BATCH }, (_, n) => storedAlert(from + n, size, ORGANIZATION)));
  const perSecond = isFilled ? 0 : (size * 1000) / (performance.now() - begin);
  return { size, store, alerts, perSecond, bytes: statSync(path).size };
}

/** A page is full with each size: otherwise they would be compared by how many alerts they read. */
const list =
  (query: Query, skip = 0) =>
  async ({ alerts }: Loaded) => {
    const { rows } = await alerts.list(ORGANIZATION, readAlertQuery(query), { after: null, skip, limit: LIMIT });
    if (rows.length !== LIMIT) throw new Error(`a page of ${rows.length} alerts: ${JSON.stringify(query)}`);
  };
const stats =
  (query: Query) =>
  ({ alerts }: Loaded) => {
    const { statuses: _, ...filter } = readAlertQuery(query);
    return alerts.countByStatus(ORGANIZATION, filter);
  };

/** Changes the oldest matching alerts, and changes them back. */
async function changeBack({ alerts }: Loaded, from: AlertStatus, to: AlertStatus, query: Query): Promise<void> {
  const write = (status: AlertStatus) => ({ status, keyId: 'key', now: new Date() });
  const filter = readAlertQuery(query);
  const done = await changeMatching(alerts, ORGANIZATION, { ...filter, statuses: [from] }, write(to), CHANGED);
  if (done.updated !== CHANGED) throw new Error(`${done.updated} alerts were changed`);
  await changeMatching(alerts, ORGANIZATION, { ...filter, statuses: [to] }, write(from), CHANGED);
}

/** Changes the newest alert and every `step`th before it by their ids, and changes them back. */
async function changeIds({ alerts, size }: Loaded, step: number): Promise<void> {
  const ids = Array.from({ length: CHANGED }, (_, n) => storedAlert(size - 1 - n * step, size, ORGANIZATION)._id);
  for (const status of ['resolved', 'open'] as const)
    await changeNamed(alerts, ORGANIZATION, ids, { status, keyId: 'key', now: new Date() });
}

const MANY_TAGS = Array.from({ length: 20 }, (_, n) => `tag_${n}`).join(',');
const MONTH = { date_from: '2026-05-01', date_to: '2026-05-31' };
const QUARTER = { date_from: '2026-04-01', date_to: '2026-06-30' };
const YEAR = { date_from: '2026-01-01', date_to: '2026-12-31' };

const QUESTIONS: Record<string, (loaded: Loaded) => Promise<unknown>> = {
  'list: all': list({}),
  'list: two statuses': list({ status: 'open,escalated' }),
  'list: campaign': list({ campaign_id: 'campaign-3' }),
  'list: two tags, two countries': list({ tag: 'tag_1,tag_2', country_code: 'DE,FR' }),
  'list: 20 tags, 10 countries': list({ tag: MANY_TAGS, country_code: 'US,DE,FR,PT,BR,JP,IN,GB,ES,IT' }),
  'list: a month': list(MONTH),
  'list: a quarter, campaign, Kolkata': list({ ...QUARTER, campaign_id: 'campaign-3', timezone: 'Asia/Kolkata' }),
  'list: page 100': list({}, 99 * LIMIT),
  'statistics: all': stats({}),
  'statistics: campaign and country': stats({ campaign_id: 'campaign-3', country_code: 'DE' }),
  'statistics: two tags, two countries': stats({ tag: 'tag_1,tag_2', country_code: 'DE,FR' }),
  'statistics: a month': stats(MONTH),
  'statistics: a year': stats(YEAR),
  'statistics: a year, Kathmandu': stats({ ...YEAR, timezone: 'Asia/Kathmandu' }),
  'statistics: since February': stats({ date_from: '2026-02-10' }),
  'statistics: a year, campaign': stats({ ...YEAR, campaign_id: 'campaign-3' }),
  'statistics: a year, 20 tags': stats({ ...YEAR, tag: MANY_TAGS }),
};
const CHANGES: Record<string, (loaded: Loaded) => Promise<unknown>> = {
  'change: 200 that match, and back': (one) => changeBack(one, 'open', 'resolved', {}),
  'change: 200 of a month, and back': (one) => changeBack(one, 'open', 'dismissed', MONTH),
  'change: the newest 200 by id, and back': (one) => changeIds(one, 1),
  'change: 200 by id, spread over the year, and back': (one) => changeIds(one, one.size / CHANGED),
};

/** Empties the outboxes of alerts that were changed, as a relay does: they would grow with each round. */
async function emptyOutboxes({ alerts: { outbox } }: Loaded): Promise<void> {
  for (;;) {
    const { claimed } = await outbox.claimDue(new Date(), new Date(Date.now() + 60_000), CHANGED);
    if (claimed.length === 0) return;
    for (const one of claimed)
      await outbox.finish(
        one,
        one.entries.map(({ id }) => id),
        null,
      );
  }
}

/** All sizes in turn, so that other load on the machine affects all. The first round warms up. */
async function compare(ask: (loaded: Loaded) => Promise<unknown>): Promise<number[][]> {
  const rounds: number[][] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const times: number[] = [];
    for (const one of loaded) {
      times.push(await processorTime(() => ask(one), ROUND_MS));
      await emptyOutboxes(one);
    }
    if (round > 0) rounds.push(times);
  }
  return loaded.map((_, at) => rounds.map((times) => times[at]!));
}

const loaded: Loaded[] = [];
for (const size of SIZES) loaded.push(await load(size));
const results: { name: string; times: number[][]; ratio: number }[] = [];
for (const [name, ask] of Object.entries({ ...QUESTIONS, ...CHANGES })) {
  const times = await compare(ask);
  const ratio = median(times[1]!) / median(times[0]!);
  console.log(`${name}: ${times.map((of) => Math.round(median(of))).join(' and ')} us, ${ratio.toFixed(2)}`);
  results.push({ name, times, ratio });
}
for (const { store } of loaded) await store.close();

const shown = (times: number[]) =>
  `${number(median(times))} (${number(Math.min(...times))}-${number(Math.max(...times))})`;
const filled = loaded.filter(({ perSecond }) => perSecond > 0);
const slow = results.filter(({ ratio }) => ratio > RATIO_MAX);
saveResult('alerts', [
  `# Alerts: ${SIZES.map(number).join(' and ')}`,
  `One organization, embedded store on a file, one caller; alerts of 40 campaigns, 4 policy sets, 25 tags and 10 countries, spread over a year. Microseconds of processor time: of a page of ${LIMIT} with its exact total, of the four counts, of a change of ${CHANGED} alerts with the change back. Median and range of ${ROUNDS} rounds of ${ROUND_MS} ms, both sizes in turn. Ids are in the order of creation.`,
  [
    `| Microseconds | ${SIZES.map((size) => `${number(size)} alerts`).join(' | ')} | ratio |`,
    '|---|--:|--:|--:|',
    ...results.map(({ name, times, ratio }) => `| ${name} | ${times.map(shown).join(' | ')} | ${ratio.toFixed(2)} |`),
  ].join('\n'),
  `${slow.length === 0 ? 'None' : slow.map(({ name }) => name).join(', ')} is above ${RATIO_MAX} times.`,
  `The stores are ${loaded.map(({ bytes }) => number(bytes / 2 ** 20)).join(' and ')} MiB.${filled.map(({ size, perSecond }) => ` ${number(size)} were inserted at ${number(perSecond)} a second.`).join('')}`,
  `Machine: ${machine()}.`,
]);
process.exitCode = slow.length === 0 ? 0 : 1;
