import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { createScansOfRuns } from '../../../src/scanning/runs/create-scans-of-runs.ts';
import { fireSchedules } from '../../../src/scanning/runs/fire-schedules.ts';
import { type Json, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const OURS = ORGANIZATIONS.ours;
const CAMPAIGNS = 24;
const MINUTE_MS = 60_000;

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

/** Writes that a dying process makes, or does not make: it is killed before or after any of them. */
const WRITES = [
  ...(['insertOne', 'insertMany'] as const).map((method) => ['scans', method] as const),
  ...(['insertOne', 'updateOne', 'findOneAndUpdate'] as const).map((method) => ['runs', method] as const),
  ...(['updateOne', 'findOneAndUpdate'] as const).map((method) => ['campaigns', method] as const),
  ['allowances', 'updateOne'] as const,
];

test('§2.8.5 two schedulers that die at random while runs start and scans end: no run twice, counters as counted, nothing charged twice', async () => {
  const random = seededRandom(23);
  const revive = WRITES.map(([collection, method]) =>
    api.intercept(collection, method, () =>
      random() < 0.04 ? Promise.reject(new Error('killed')) : Promise.resolve(),
    ),
  );
  const campaigns: Json[] = [];
  while (campaigns.length < CAMPAIGNS) {
    const body = { name: 'Random', url: 'https://shop.example/', country_codes: ['US', 'PT'], repeat_count: 5 };
    const schedule = { schedule_type: 'interval', schedule_interval_seconds: 3_600 };
    const answer = await api.post('/api/v1/campaigns', { ...body, ...(campaigns.length % 2 && schedule) });
    if (answer.status === 201) campaigns.push(answer.body);
  }
  const { creating, firing } = api.domains.campaigns.dependencies;
  const byHand = campaigns.filter(({ next_run_at }) => next_run_at === null);
  const keys = byHand.map(() => crypto.randomUUID());
  let clock = Date.now();
  for (let round = 0; round < 60; round += 1) {
    clock += 2 * MINUTE_MS;
    const now = new Date(clock);
    const at = Math.floor(random() * byHand.length);
    await Promise.allSettled([
      ...[1, 2].flatMap(() => [fireSchedules(firing, now), createScansOfRuns(creating, now)]),
      api.post(`/api/v1/campaigns/${byHand[at].id}/run`, undefined, { headers: { 'idempotency-key': keys[at]! } }),
      endSome(random, now),
    ]);
    if (round === 30) await api.post(`/api/v1/campaigns/${byHand[0].id}/cancel`);
  }
  for (const live of revive) live();
  for (let idle = 0; idle < 3; idle += 1, clock += MINUTE_MS) {
    for (const [at, { id }] of byHand.entries())
      await api.post(`/api/v1/campaigns/${id}/run`, undefined, { headers: { 'idempotency-key': keys[at]! } });
    while (await createScansOfRuns(creating, new Date(clock)));
  }

  const scans = await api.store.collection<ScanRecord>('scans').find({}).toArray();
  const byRun = Map.groupBy(scans, ({ run_id }) => run_id);
  let planned = 0;
  for (const { id, next_run_at } of campaigns) {
    const { items } = (await api.get(`/api/v1/campaigns/${id}/runs`)).body;
    if (next_run_at === null) assert.equal(items.length, 1, 'a request that is repeated starts one run');
    for (const run of items) {
      const own = byRun.get(run.id) ?? [];
      const counted = (status: string) => own.filter((scan) => scan.final_status === status).length;
      const missing = run.total - own.length;
      if (missing > 0) assert.ok(run.cancelled >= missing, 'only a cancelled run lacks scans');
      planned += own.length;
      assert.deepEqual(
        [run.total, run.completed, run.failed, run.partial, run.cancelled],
        [10, counted('completed'), counted('failed'), counted('partial'), counted('cancelled') + missing],
      );
    }
  }
  assert.ok(planned > 150, `${planned} scans`);

  while ((await relay(api.domains.delivery.dependencies, new Date(clock + MINUTE_MS))).hasMore);
  const charges = await api.store.collection<Json>('ledger_entries').find({ type: 'usage_charge' }).toArray();
  assert.deepEqual([charges.length, new Set(charges.map(({ _id }) => _id)).size], [scans.length, scans.length]);
});

/** Ends some scans as analyses of them do, some of them a second time. */
async function endSome(random: () => number, now: Date): Promise<void> {
  const scans = await api.store
    .collection<ScanRecord>('scans')
    .find({ organization_id: OURS, status: 'pending' })
    .limit(12)
    .toArray();
  for (const { _id } of scans) {
    if (random() < 0.5) continue;
    await api.store.collection<Json>('scans').updateOne({ _id, status: 'pending' }, { $set: { status: 'crawled' } });
    for (let end = 0; end < (random() < 0.3 ? 2 : 1); end += 1) {
      const scan = await api.scans.find(OURS, _id);
      if (end === 1) await changeScan(api.scans, scan!, { type: 'recheck', id: 'again' }, now);
      const until = new Date(now.getTime() + MINUTE_MS);
      const claimed = await changeScan(
        api.scans,
        (await api.scans.find(OURS, _id))!,
        { type: 'claim_checks', until },
        now,
      );
      const classification = { brand: null, ai_category: null, iab_v3: null, custom_taxonomies: [] };
      const judged = { tags: [], classification, extractedLabels: {}, network: '', networkHost: '', error: '' };
      const complete = random() < 0.5;
      if (claimed) await changeScan(api.scans, claimed, { type: 'finish', ...judged, complete }, now);
    }
  }
}
