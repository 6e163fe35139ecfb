import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { slow } from '../../../../shared/test/support/slow.ts';
import { releaseAbandoned } from '../../../src/accounts/billing/release-abandoned.ts';
import type { OutboxEntry } from '../../../src/platform/outbox/outbox-entry.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import { createScansOfRuns } from '../../../src/scanning/runs/create-scans-of-runs.ts';
import { CAMPAIGNS, GROUPS } from '../../support/campaign-calls.ts';
import { apiForRuns, COUNTRIES, runCalls } from '../../support/run-calls.ts';
import { type Json, ORGANIZATIONS, PAGE, type RunningApi } from '../../support/running-api.ts';

const OURS = ORGANIZATIONS.ours;

let api: RunningApi;
before(async () => {
  api = await apiForRuns();
});
after(() => api.stop());

const { post, get, campaign, countsOf, scansOf, record, used, reservations, step, create } = runCalls(() => api);

/** Simulates the death of the process after `count` more scans were written, until the returned function is called. */
function dieAfter(count: number): () => void {
  const { insertUnlessExists } = api.scans;
  let left = count;
  api.scans.insertUnlessExists = async (scan) => {
    left -= 1;
    if (left < 0) throw new Error('killed');
    return insertUnlessExists(scan);
  };
  return () => {
    api.scans.insertUnlessExists = insertUnlessExists;
  };
}

describe('the creation of a run', () => {
  const large = () => campaign({ country_codes: COUNTRIES, repeat_count: 20, emulator_categories: ['iphone', 'ipad'] });

  test('§2.8 a run whose creation crashes anywhere is resumed: no scan is missing, none doubled, none charged twice', async () => {
    const { id } = await large();
    const before = await used();
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    for (const survived of [0, 130, 250]) {
      const live = dieAfter(survived);
      await step();
      await step();
      live();
      assert.equal(await countsOf(run.id), '800 0 0 0 0', 'the total is exact meanwhile');
    }
    assert.equal(await step(), false, 'a failed step is repeated later');
    while (await step(60_000));
    await create();
    const scans = await scansOf(run.id);
    assert.deepEqual(
      [scans.length, new Set(scans.map(({ _id }) => _id)).size, await countsOf(run.id)],
      [800, 800, '800 0 0 0 0'],
    );
    assert.deepEqual([(await used()) - before, await reservations()], [800, []]);
  });

  test('§2.8 two schedulers that make the same steps create each scan once', slow, async () => {
    const { id } = await large();
    const before = await used();
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    const { creating } = api.domains.campaigns.dependencies;
    // Both are given the run, as if the claim of the first had expired.
    const [stored] = await api.store.collection<Json>('runs').find({ _id: run.id }).toArray();
    const claimDue = async () => [stored];
    const stalled = { ...creating, runs: { ...creating.runs, claimDue } };
    await Promise.all([createScansOfRuns(stalled, new Date()), createScansOfRuns(stalled, new Date()), create()]);
    await createScansOfRuns(stalled, new Date());
    while (await step(60_000));
    await create();
    assert.deepEqual([(await scansOf(run.id)).length, (await used()) - before, await reservations()], [800, 800, []]);
  });

  test('§2.8 a run whose reservation is gone is cancelled with the scans it has, and its campaign can run again', async () => {
    const { id } = await campaign();
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    const { allowances } = api.accounts;
    for (const one of Object.keys((await allowances.read(OURS)).reservations)) await allowances.releaseRest(OURS, one);
    await create();
    assert.ok((await api.domains.campaigns.stores.runs.find(OURS, run.id))?.cancelled_at);
    assert.equal(await countsOf(run.id), '2 0 0 0 2');
    assert.equal(await step(60_000), false, 'nothing is tried again');
  });

  test('§5.9 the checks of a run that ends in another month return to the quota of the month in which it was started', async () => {
    const { id } = await campaign({ repeat_count: 2 });
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    const started = new Date(Date.now() - 45 * 86_400_000);
    await api.store.collection<Json>('runs').updateOne({ _id: run.id }, { $set: { created_at: started } });
    await create();
    await post(`/api/v1/runs/${run.id}/cancel`);
    const entries = (await scansOf(run.id)).flatMap(({ outbox }) => outbox as OutboxEntry<'charge' | 'refund'>[]);
    const refunds = entries.filter(({ kind }) => kind === 'refund');
    assert.deepEqual(
      refunds.map(({ charged_at }) => charged_at),
      Array(4).fill(started),
    );
  });

  test('§2.8 a reservation lasts as long as its run is being created, and is released without one', async () => {
    const { id } = await campaign({ repeat_count: 2 });
    const before = await used();
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    const { isCreatingRun } = api.domains.campaigns.verbs;
    const parts = {
      allowances: api.accounts.allowances,
      countReserved: api.scans.countReserved,
      isCreatingRun,
      logger: api.logger,
    };
    const later = new Date(Date.now() + 3_600_000);
    await releaseAbandoned(parts, later);
    assert.deepEqual([(await used()) - before, (await reservations()).length], [4, 1]);
    // The process died between the reservation and the run.
    const removed = await api.store.collection<Json>('runs').findOneAndDelete({ _id: run.id });
    assert.ok(removed);
    await releaseAbandoned(parts, later);
    assert.deepEqual([(await used()) - before, await reservations()], [0, []]);
  });
});

describe('cancelling', () => {
  const finish = async (id: string): Promise<void> => {
    await api.store.collection<Json>('scans').updateOne({ _id: id }, { $set: { status: 'crawled' } });
    const scan = await api.scans.find(OURS, id);
    const until = new Date(Date.now() + 60_000);
    const claimed = await changeScan(api.scans, scan!, { type: 'claim_checks', until }, new Date());
    const classification = { brand: null, ai_category: null, iab_v3: null, custom_taxonomies: [] };
    const judged = { tags: [], classification, extractedLabels: {}, network: '', networkHost: '', error: '' };
    assert.ok(await changeScan(api.scans, claimed!, { type: 'finish', ...judged, complete: true }, new Date()));
  };

  test(
    '§2.8 a run that is cancelled while it is created keeps its total, and what was not created counts as cancelled',
    slow,
    async () => {
      const { id } = await campaign({ country_codes: COUNTRIES, repeat_count: 20 });
      const before = await used();
      const run = await post(`${CAMPAIGNS}/${id}/run`);
      await step();
      const created = await scansOf(run.id);
      assert.equal(created.length, 200);
      await finish(created[0]!._id);
      assert.deepEqual(await post(`/api/v1/runs/${run.id}/cancel`), { cancelled_count: 399 });
      assert.equal(await countsOf(run.id), '400 1 0 0 399');
      assert.deepEqual(await post(`/api/v1/runs/${run.id}/cancel`), { cancelled_count: 0 });
      await create();
      assert.deepEqual([(await scansOf(run.id)).length, await countsOf(run.id)], [200, '400 1 0 0 399']);
      assert.deepEqual(await reservations(), []);
      assert.equal(
        (await used()) - before,
        200,
        'what was not created is not counted; refunds are booked by the relay',
      );
    },
  );

  test('§2.8 scans that a step creates while its run is cancelled are cancelled too', slow, async () => {
    const { id } = await campaign({ country_codes: COUNTRIES, repeat_count: 10 });
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    const { insertUnlessExists } = api.scans;
    let cancelled: Promise<Json> | null = null;
    api.scans.insertUnlessExists = async (scan) => {
      cancelled ??= post(`/api/v1/runs/${run.id}/cancel`);
      await cancelled;
      return insertUnlessExists(scan);
    };
    await step();
    api.scans.insertUnlessExists = insertUnlessExists;
    assert.deepEqual(await cancelled, { cancelled_count: 200 });
    await create();
    assert.equal(await countsOf(run.id), '200 0 0 0 200');
    assert.ok((await scansOf(run.id)).every(({ status }) => status === 'cancelled'));
    assert.deepEqual(await reservations(), []);
  });

  test('§2.8 a campaign is cancelled with all its runs, a group with all its campaigns; running scans end', async () => {
    const { id: group_id } = await post(GROUPS, { name: 'Cancelled' });
    const [first, second] = [await campaign({ group_id }), await campaign({ group_id, repeat_count: 2 })];
    const direct = await post('/api/v1/scans', { ...PAGE, campaign_id: first.id });
    const runs = [await post(`${CAMPAIGNS}/${first.id}/run`), await post(`${CAMPAIGNS}/${second.id}/run`)];
    assert.deepEqual(await post(`${CAMPAIGNS}/${first.id}/cancel`), { cancelled_count: 3 });
    assert.equal((await get(`/api/v1/scans/${direct.id}`)).status, 'cancelled');
    await create();
    const [running] = await scansOf(runs[1].id);
    const lease = { fence: 1, node: 'n', until: new Date(Date.now() + 60_000) } as never;
    await changeScan(api.scans, running!, { type: 'lease', lease }, new Date());
    const action = await post(`${GROUPS}/${group_id}/cancel`);
    assert.deepEqual(action, { group_id, affected_campaigns: 1, cancelled_count: 3, run_ids: [], failures: [] });
    assert.equal((await post(`${GROUPS}/${group_id}/cancel`)).affected_campaigns, 0);
    assert.deepEqual([await countsOf(runs[0].id), await countsOf(runs[1].id)], ['2 0 0 0 2', '4 0 0 0 3']);
    assert.equal((await scansOf(runs[1].id)).find(({ _id }) => _id === running!._id)!.status, 'running');
    const later = await post('/api/v1/scans', { ...PAGE, campaign_id: first.id });
    assert.equal(
      (await record(later.id)).run_id,
      (await record(direct.id)).run_id,
      'its API run of the day stays open',
    );
  });
});
