import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { joinApiRun } from '../../../src/scanning/runs/join-run.ts';
import { apiRun, type RunRecord } from '../../../src/scanning/runs/run.ts';
import { CAMPAIGN, CAMPAIGNS, campaignCalls, GROUPS } from '../../support/campaign-calls.ts';
import '../../support/fixed-clock.ts';
import {
  itemsOf,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

const { create, patch, newGroup, namesOf } = campaignCalls(() => api);

describe('scans of campaigns', () => {
  test('§2.8 a campaign that is created in, moved to or restored in a group while that is archived is archived with it', async () => {
    const [group_id, other] = [await newGroup('Closing'), await newGroup('Open')];
    const moved = await Promise.all(
      Array.from({ length: 5 }, (_, at) => create({ name: `Moved ${at}`, group_id: other })),
    );
    const inGroup = await Promise.all(Array.from({ length: 5 }, (_, at) => create({ name: `Back ${at}`, group_id })));
    await Promise.all(inGroup.map(({ id }) => api.post(`${CAMPAIGNS}/${id}/archive`)));
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, at) => api.post(CAMPAIGNS, { ...CAMPAIGN, name: `New ${at}`, group_id })),
      ...moved.map(({ id }) => patch(id, { group_id })),
      ...inGroup.map(({ id }) => api.post(`${CAMPAIGNS}/${id}/unarchive`)),
      api.post(`${GROUPS}/${group_id}/archive`),
    ]);
    assert.deepEqual(
      [...new Set(answers.map(({ status }) => status))].filter((one) => ![200, 201, 409].includes(one)),
      [],
    );
    assert.equal(await namesOf(`?group_id=${group_id}`), '');
  });

  test('§4.2.10 a scan that is posted with a campaign uses only the values of its own body', async () => {
    const { id: campaign_id } = await create({ referrer: 'https://pub.example/', ignore_first_n_domains: 2 });
    const { body } = await api.post('/api/v1/scans', { ...PAGE, campaign_id });
    assert.deepEqual([body.campaign_id, body.referrer, body.ignore_first_n_domains], [campaign_id, null, 0]);
    const theirs = await api.post('/api/v1/scans', { ...PAGE, campaign_id }, { key: KEYS.theirs });
    assert.deepEqual(itemsOf(theirs), ['body.campaign_id not_found']);
  });

  test('§2.1 a scan shows its campaign and group as they are now, and is found by the group', async () => {
    const [first, second] = [await newGroup('First'), await newGroup('Second')];
    const { id: campaign_id } = await create({ name: 'Old', group_id: first });
    const { id, campaign_name, campaign_group_name } = (await api.post('/api/v1/scans', { ...PAGE, campaign_id })).body;
    assert.deepEqual([campaign_name, campaign_group_name], ['Old', 'First']);
    const found = async (group: string) => (await api.get(`/api/v1/scans?group_id=${group}`)).body;
    assert.deepEqual([(await found(first)).items[0].campaign_name, (await found(second)).total], ['Old', 0]);
    await patch(campaign_id, { name: 'New', group_id: second });
    const scan = (await api.get(`/api/v1/scans/${id}`)).body;
    assert.deepEqual([scan.campaign_name, scan.campaign_group_id, scan.campaign_group_name], ['New', second, 'Second']);
    assert.deepEqual([(await found(first)).total, (await found(second)).items[0].campaign_name], [0, 'New']);
    await patch(campaign_id, { name: '<b>New' });
    const report = await api.get(new URL(scan.public_report_url).pathname, { key: null });
    assert.match(report.text, /<dt>Campaign<\/dt><dd><bdi>&lt;b&gt;New<\/bdi>/);
    const campaigns = api.store.collection<Json>('campaigns');
    const stored = await campaigns.findOne({ _id: campaign_id });
    await campaigns.insertMany(Array.from({ length: 51 }, () => ({ ...stored, _id: crypto.randomUUID() })));
    assert.equal((await found(second)).total, 1);
    assert.equal((await api.get(`/api/v1/scans?group_id=${second}`, { key: KEYS.theirs })).body.total, 0);
  });
});

describe('runs of campaigns', () => {
  const COUNTS = ['total', 'completed', 'failed', 'partial', 'cancelled'] as const;
  const runsOf = async (id: string) => (await api.get(`${CAMPAIGNS}/${id}/runs`)).body;
  const countsOf = async (id: string) => {
    const run = (await api.get(`/api/v1/runs/${id}`)).body;
    return COUNTS.map((name) => run[name]).join(' ');
  };
  const post = async (body: object): Promise<Json> => {
    const answer = await api.post('/api/v1/scans', { ...PAGE, ...body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const record = async (id: string): Promise<ScanRecord> => (await api.scans.find(ORGANIZATIONS.ours, id))!;
  /** Ends a scan as an analysis of it does. */
  const finish = async (id: string, complete: boolean): Promise<void> => {
    await api.store
      .collection<Json>('scans')
      .updateOne({ _id: id, status: 'pending' }, { $set: { status: 'crawled' } });
    const [now, until] = [new Date(), new Date(Date.now() + 60_000)];
    const claimed = await changeScan(api.scans, await record(id), { type: 'claim_checks', until }, now);
    const classification = { brand: null, ai_category: null, iab_v3: null, custom_taxonomies: [] };
    const judged = { tags: [], classification, extractedLabels: {}, network: '', networkHost: '', error: '' };
    assert.ok(await changeScan(api.scans, claimed!, { type: 'finish', ...judged, complete }, now));
  };

  test('§2.1 scans that are posted with a campaign join its API run of the day, and with a run_id that run', async () => {
    const { id: campaign_id } = await create();
    assert.equal((await api.post('/api/v1/scans?dry_run=true', { ...PAGE, campaign_id })).status, 200);
    assert.equal((await runsOf(campaign_id)).total, 0);
    const [first] = await Promise.all([post({ campaign_id }), post({ campaign_id, repeat_count: 2 })]);
    const { items, total } = await runsOf(campaign_id);
    const [{ id: run_id, source, trigger, created_at }] = items;
    assert.deepEqual([total, source, trigger, items[0].total], [1, 'api', 'api', 3]);
    assert.equal((await api.get(`${CAMPAIGNS}/${campaign_id}`)).body.last_run_at, created_at);
    assert.equal((await api.get(`${CAMPAIGNS}?last_run_from=2001-01-01&q=Spring`)).body.items[0].id, campaign_id);
    await post({ campaign_id, run_id });
    const tiles = (await api.get(`/api/v1/runs/${run_id}/scans?limit=1&page=4`)).body;
    assert.equal(tiles.total, 4);
    assert.deepEqual(Object.keys(tiles.items[0]).toSorted(), [
      ...['country_code', 'elapsed_ms', 'error', 'id', 'offer_url', 'public_report_url', 'report_url'],
      ...['screenshot_url', 'status'],
    ]);
    assert.equal((await api.get(`/api/v1/scans?run_id=${run_id}&scan_id=${first.id}`)).body.total, 1);

    const { id: other } = await create();
    const ofOther = await api.post('/api/v1/scans', { ...PAGE, campaign_id: other, run_id });
    assert.deepEqual(itemsOf(ofOther), ['body.run_id not_found']);
    assert.deepEqual(itemsOf(await api.post('/api/v1/scans', { ...PAGE, run_id })), [
      'body.run_id invalid_combination',
    ]);
    assert.equal((await api.get(`/api/v1/runs/${run_id}`, { key: KEYS.theirs })).status, 404);
  });

  test('§4.2.8 the scans of a bulk request join one run of their campaign, with the values of its own body', async () => {
    const { id: campaign_id } = await create({ referrer: 'https://pub.example/', ignore_first_n_domains: 2 });
    const { country_code: _, ...page } = PAGE;
    const bulk = { ...page, country_codes: ['us', 'PT'], repeat_count: 2, campaign_id };
    assert.equal((await api.post('/api/v1/scans/bulk', { ...bulk, repeat_count: 21 })).status, 422);
    assert.equal((await runsOf(campaign_id)).total, 0, 'nothing of a refused request');
    const answer = await api.post('/api/v1/scans/bulk', bulk);
    assert.equal(answer.status, 201, answer.text);
    const [{ id, total }] = (await runsOf(campaign_id)).items;
    assert.equal(total, 4);
    const scans = await api.store.collection<ScanRecord>('scans').find({ run_id: id }).toArray();
    assert.deepEqual(
      scans.map(({ referrer, ignore_first_n_domains }) => [referrer, ignore_first_n_domains]),
      Array(4).fill([null, 0]),
    );
  });

  test('§2.8 a run counts each scan once, by the state in which it last ended', async () => {
    const { id: campaign_id } = await create();
    const scans = [await post({ campaign_id }), await post({ campaign_id }), await post({ campaign_id })];
    const [first, second, third] = scans.map(({ id }) => id as string);
    const run_id = (await runsOf(campaign_id)).items[0].id;
    assert.equal(await countsOf(run_id), '3 0 0 0 0');
    await finish(first!, false);
    await finish(second!, true);
    assert.equal(await countsOf(run_id), '3 1 0 1 0');
    await changeScan(api.scans, await record(first!), { type: 'recheck', id: 'again' }, new Date());
    assert.equal(await countsOf(run_id), '3 1 0 1 0', 'during a recheck');
    await finish(first!, true);
    assert.equal(await countsOf(run_id), '3 2 0 0 0', 'after the recheck');

    // A removal that is interrupted at any moment, and repeated, counts the scan once.
    const release = api.intercept('scans', 'deleteOne', () => Promise.reject(new Error('interrupted')));
    await assert.rejects(api.scans.remove(await record(first!)));
    assert.equal(await countsOf(run_id), '3 2 0 0 0', 'an interrupted removal');
    release();
    await api.scans.remove(await record(first!));
    assert.equal(await api.scans.find(ORGANIZATIONS.ours, first!), null);
    assert.equal(await countsOf(run_id), '3 2 0 0 0', 'after the removal');

    assert.deepEqual((await api.post(`/api/v1/runs/${run_id}/cancel`)).body, { cancelled_count: 1 });
    assert.deepEqual((await api.post(`/api/v1/runs/${run_id}/cancel`)).body, { cancelled_count: 0 });
    assert.deepEqual([(await record(third!)).status, await countsOf(run_id)], ['cancelled', '3 2 0 0 1']);
    const late = await api.post('/api/v1/scans', { ...PAGE, campaign_id, run_id });
    assert.deepEqual([late.status, late.body.code, typeof late.body.detail], [409, 'runs.cancelled', 'string']);
    await post({ campaign_id });
    assert.deepEqual((await runsOf(campaign_id)).items.map(({ total }: Json) => total).toSorted(), [1, 3]);
  });

  test('§2.8.6 scans that join a run while that is being cancelled are cancelled with it, and refunded', async () => {
    const { insertUnlessExists } = api.scans;
    for (const named of [true, false]) {
      const { id: campaign_id } = await create();
      await post({ campaign_id });
      const run_id = (await runsOf(campaign_id)).items[0].id;
      api.scans.insertUnlessExists = async (scan) => {
        assert.equal((await api.post(`/api/v1/runs/${run_id}/cancel`)).status, 200);
        return insertUnlessExists(scan);
      };
      const answer = await post({ campaign_id, repeat_count: 2, ...(named && { run_id }) });
      api.scans.insertUnlessExists = insertUnlessExists;
      const scans = await Promise.all([answer.id, ...answer.repeat_scan_ids].map(record));
      assert.deepEqual([answer.status, ...scans.map(({ status }) => status)], Array(3).fill('cancelled'));
      for (const { outbox } of scans) assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, 1);
      assert.equal(await countsOf(run_id), '3 0 0 0 3');
    }
  });

  test('§4.2.18 an interrupted request that is repeated after its API run was cancelled creates what is missing in another run', async () => {
    const { id: campaign_id } = await create();
    const { insertUnlessExists } = api.scans;
    let left = 1;
    api.scans.insertUnlessExists = async (scan) => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return insertUnlessExists(scan);
    };
    const sent = { headers: { 'idempotency-key': crypto.randomUUID() } };
    const body = { ...PAGE, campaign_id, repeat_count: 2 };
    assert.equal((await api.post('/api/v1/scans', body, sent)).status, 500);
    api.scans.insertUnlessExists = insertUnlessExists;
    const [first] = (await runsOf(campaign_id)).items;
    assert.deepEqual((await api.post(`/api/v1/runs/${first.id}/cancel`)).body, { cancelled_count: 1 });
    const { id, repeat_scan_ids } = (await api.post('/api/v1/scans', body, sent)).body;
    const [stored, missing] = await Promise.all([id, ...repeat_scan_ids].map(record));
    assert.deepEqual([stored!.status, stored!.run_id], ['cancelled', first.id]);
    assert.equal(missing!.status, 'pending');
    assert.notEqual(missing!.run_id, first.id);
  });

  test('§2.8 a scan joins the first API run of the day that is not cancelled, and few of those that are cancelled are read', async () => {
    const made = new Map<string, RunRecord>();
    let reads = 0;
    const runs = {
      find: async (_: string, id: string) => {
        reads += 1;
        return made.get(id) ?? null;
      },
      insert: async (run: RunRecord) => {
        made.set(run._id, run);
        return true;
      },
    };
    const join = joinApiRun({ runs, campaigns: { noteRun: async () => {} } });
    const now = new Date();
    for (let number = 0; number < 100; number += 1) {
      reads = 0;
      const joined = [1, 2].map(() => join('organization', 'campaign', now, async () => {}));
      const { _id } = apiRun('organization', 'campaign', number, now);
      assert.deepEqual(await Promise.all(joined), [_id, _id]);
      assert.ok(reads <= 32, `${reads} reads`);
      made.get(_id)!.cancelled_at = now;
    }
  });

  test('§5.9 a run whose start was interrupted, and is repeated in the next month, is counted in the month in which it starts', async () => {
    const { campaigns } = api.domains.campaigns.stores;
    const campaign = (await campaigns.find(ORGANIZATIONS.ours, (await create()).id))!;
    const { startRun } = api.domains.campaigns.dependencies.firing;
    const id = crypto.randomUUID();
    const startAt = (time: string) => startRun(campaign, { id, trigger: 'manual', now: new Date(time) });
    const live = api.intercept('runs', 'insertOne', () => Promise.reject(new Error('killed')));
    await assert.rejects(startAt('2031-11-30T23:59:59Z'));
    live();
    const run = await startAt('2031-12-01T00:00:01Z');
    const { months, reservations } = await api.accounts.allowances.read(ORGANIZATIONS.ours);
    const { month, checks } = reservations[run.creation!.reservation_id]!;
    assert.deepEqual([month, checks, months[month]], ['2031-12', run.plan!.scans, run.plan!.scans]);
  });
});
