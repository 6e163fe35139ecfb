import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { releaseAbandoned } from '../../../src/accounts/billing/release-abandoned.ts';
import type { OutboxEntry } from '../../../src/platform/outbox/outbox-entry.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { createScansOfRuns } from '../../../src/scanning/runs/create-scans-of-runs.ts';
import { type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

const PATH = '/api/v1/campaigns';
const GROUPS = '/api/v1/campaign-groups';
const COUNTRIES = Array.from({ length: 20 }, (_, n) => `A${n}`);
const OURS = ORGANIZATIONS.ours;
const COUNTS = ['total', 'completed', 'failed', 'partial', 'cancelled'] as const;

let api: RunningApi;
before(async () => {
  const [pool] = CATALOGUE.pools;
  const pools = COUNTRIES.map((country_code) => ({ ...pool!, country_code }));
  api = await runningApi({ catalogue: { ...CATALOGUE, pools: [...CATALOGUE.pools, ...pools] } });
});
after(() => api.stop());

const post = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<Json> => {
  const answer = await api.post(path, body, { headers });
  assert.ok([200, 201].includes(answer.status), answer.text);
  return answer.body;
};
const get = async (path: string): Promise<Json> => (await api.get(path)).body;
const campaign = (change: object = {}): Promise<Json> =>
  post(PATH, { name: 'Spring', url: 'https://shop.example/', country_codes: ['US', 'PT'], ...change });
const refusal = async (path: string, key = KEYS.ours): Promise<string> => {
  const { status, body } = await api.post(path, undefined, { key });
  return `${status} ${body.code} ${typeof body.detail}`;
};
const countsOf = async (id: string): Promise<string> => {
  const run = await get(`/api/v1/runs/${id}`);
  return COUNTS.map((name) => run[name]).join(' ');
};
const scansOf = (run_id: string): Promise<ScanRecord[]> =>
  api.store.collection<ScanRecord>('scans').find({ run_id }).toArray();
const record = async (id: string): Promise<ScanRecord> => (await api.scans.find(OURS, id))!;
const quota = (checks_per_month: number | null) =>
  api.accounts.organizations.change(OURS, { quotas: { checks_per_month } });
const used = async (): Promise<number> => {
  const { months } = await api.accounts.allowances.read(OURS);
  return Object.values(months).reduce((sum, checks) => sum + checks, 0);
};
const reservations = async () => Object.values((await api.accounts.allowances.read(OURS)).reservations);

/** The steps that a scheduler makes, at a moment that is `laterMs` from now. */
const step = (laterMs = 0) =>
  createScansOfRuns(api.domains.campaigns.dependencies.creating, new Date(Date.now() + laterMs));
async function create(): Promise<void> {
  while (await step());
  await api.domains.accounts.verbs.writeFinishedReservations();
}
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

describe('runs by hand', () => {
  test('§4.5 a run is accepted at once with all its scans, which are created in the priority class of campaigns', async () => {
    const { id } = await campaign({ repeat_count: 2, emulator_categories: ['iphone', 'ipad'] });
    const run = await post(`${PATH}/${id}/run`);
    assert.deepEqual([run.campaign_id, run.source, run.trigger, run.total], [id, 'ui', 'manual', 8]);
    assert.equal((await get(`${PATH}/${id}`)).last_run_at, run.created_at);
    assert.equal((await scansOf(run.id)).length, 0);
    await create();
    const scans = await scansOf(run.id);
    assert.deepEqual([scans.length, new Set(scans.map(({ emulator_id }) => emulator_id)).size], [8, 2]);
    assert.ok(scans.every(({ band, campaign_id }) => band === 2 && campaign_id === id));
    assert.equal(await countsOf(run.id), '8 0 0 0 0');
    assert.deepEqual(await reservations(), []);
    assert.equal((await get(`/api/v1/runs/${run.id}/scans`)).total, 8);
    const direct = await post('/api/v1/scans', { ...PAGE, campaign_id: id, run_id: run.id });
    assert.equal((await record(direct.id)).band, undefined, 'a scan that is posted with a run');
    assert.equal(await countsOf(run.id), '9 0 0 0 0');
  });

  test('§4.2.10 the scans of a run have the referrer, ignored domains and all settings of their campaign', async () => {
    const settings = {
      ...{ campaign_type: 'ad_discovery', referrer: 'https://pub.example/p', ignore_first_n_domains: 3 },
      ...{ labels: { team: 'red' }, retry_max_attempts: 2, max_discovered_ads: 5, ad_formats: ['pop'] },
      ...{ country_codes: ['US'], proxy_type: 'residential', proxy_region: 'texas', proxy_isp: '' },
    };
    const { id } = await campaign(settings);
    const run = await post(`${PATH}/${id}/run`);
    assert.equal((await api.call('PATCH', `${PATH}/${id}`, { body: { referrer: null } })).status, 200);
    await create();
    const [scan] = await scansOf(run.id);
    const { referrer, ignore_first_n_domains, labels, retry_max_attempts, discovery, proxy } = scan!;
    assert.deepEqual(
      { referrer, ignore_first_n_domains, labels, retry_max_attempts, discovery, proxy },
      {
        ...{ referrer: 'https://pub.example/p', ignore_first_n_domains: 3, labels: { team: 'red' } },
        ...{ retry_max_attempts: 2, discovery: { ad_formats: ['pop'], max_discovered_ads: 5 } },
        proxy: { proxy_type: 'residential', region: 'Texas', city: '', isp: '' },
      },
    );
    const tagged = await campaign({ campaign_type: 'ad_tag', url: null, ad_tag: `<b>${'x'.repeat(5_000)}</b>` });
    const ofTag = await post(`${PATH}/${tagged.id}/run`);
    assert.equal((await api.call('PATCH', `${PATH}/${tagged.id}`, { body: { ad_tag: '<b>new</b>' } })).status, 200);
    await create();
    const [first] = await scansOf(ofTag.id);
    assert.equal((await get(`/api/v1/scans/${first!._id}`)).ad_tag, tagged.ad_tag, 'what the campaign had at the run');
  });

  test('§2.8 `random` draws one device of each category for a run, `all` takes every one, each device runs once', async () => {
    const pixel = EMULATORS.find(({ category }) => category === 'android_phone')!.id;
    const ofPhones = EMULATORS.filter(({ category }) => category === 'android_phone').map(({ id }) => id);
    const devices = async (change: object) => {
      const run = await post(`${PATH}/${(await campaign(change)).id}/run`);
      await create();
      const scans = await scansOf(run.id);
      const byCountry = Map.groupBy(scans, ({ country_code }) => country_code);
      const [us, pt] = ['US', 'PT'].map((code) =>
        byCountry
          .get(code)!
          .map(({ emulator_id }) => emulator_id)
          .toSorted(),
      );
      assert.deepEqual(us, pt, 'the same in every country');
      return us!;
    };
    assert.deepEqual(await devices({ emulator_mode: 'all', emulator_specific_ids: [pixel] }), ofPhones.toSorted());
    assert.deepEqual(await devices({ emulator_categories: [], emulator_specific_ids: [pixel, pixel] }), [pixel]);
    const drawn: string[][] = [];
    for (let run = 0; run < 12; run += 1) drawn.push(await devices({}));
    assert.ok(drawn.every(([device, ...others]) => ofPhones.includes(device!) && others.length === 0));
    assert.ok(new Set(drawn.flat()).size > 1, 'each run draws for itself');
  });

  test('§2.8 a campaign whose run would have more than 10,000 scans is refused with a code of its own', async () => {
    const devices = EMULATORS.map(({ id }) => id);
    const large = { country_codes: COUNTRIES, repeat_count: 20, emulator_categories: [], emulator_mode: 'all' };
    const { id } = await campaign({ ...large, emulator_specific_ids: devices.slice(0, 25) });
    const tooLarge = { ...large, emulator_specific_ids: devices.slice(0, 26) };
    const answers = [
      await api.post(PATH, { name: 'Too large', url: 'https://shop.example/', ...tooLarge }),
      await api.call('PATCH', `${PATH}/${id}`, { body: { emulator_specific_ids: devices.slice(0, 26) } }),
    ];
    for (const { status, body } of answers) assert.deepEqual([status, body.code], [422, 'campaigns.run_too_large']);
    const again = await campaign({
      ...large,
      country_codes: [...COUNTRIES, 'a1'],
      emulator_specific_ids: devices.slice(0, 25),
    });
    assert.equal(again.country_codes.length, 20, 'a country that is named twice counts once');
  });

  test('§2.8.5 the ads that a sweep of a run discovers count in its total and counters', async () => {
    const { id } = await campaign({ campaign_type: 'ad_discovery', country_codes: ['US'] });
    const run = await post(`${PATH}/${id}/run`);
    await create();
    const [sweep] = await scansOf(run.id);
    const child = {
      ...sweep!,
      _id: crypto.randomUUID(),
      report_token: crypto.randomUUID(),
      parent_scan_id: sweep!._id,
    };
    await api.scans.insertUnlessExists({ ...child, slot: 1, status: 'failed', final_status: 'failed' });
    assert.equal(await countsOf(run.id), '2 0 1 0 0');
  });

  test('§2.8 a run that the quota does not cover wholly is refused wholly, with a string', async () => {
    const { id } = await campaign({ repeat_count: 3 });
    await api.domains.accounts.verbs.writeFinishedReservations();
    await quota((await used()) + 5);
    assert.equal(await refusal(`${PATH}/${id}/run`), '403 billing.quota_exhausted string');
    assert.equal((await get(`${PATH}/${id}/runs`)).total, 0);
    await quota((await used()) + 6);
    await post(`${PATH}/${id}/run`);
    assert.equal(await refusal(`${PATH}/${id}/run`), '403 billing.quota_exhausted string');
    assert.equal((await api.post('/api/v1/scans', PAGE)).status, 403, 'what a run has reserved is not left for others');
    await quota(null);
    await create();
    assert.equal(await refusal(`${PATH}/${id}/run`, KEYS.theirs), '404 not_found string');
    await post(`${PATH}/${id}/archive`);
    assert.equal(await refusal(`${PATH}/${id}/run`), '409 campaigns.archived string');
  });

  test('§2.8 a repeated request with the same Idempotency-Key starts one run', async () => {
    const { id } = await campaign();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const before = await used();
    const runs = [
      await post(`${PATH}/${id}/run`, undefined, headers),
      await post(`${PATH}/${id}/run`, undefined, headers),
    ];
    assert.equal(runs[0].id, runs[1].id);
    await create();
    assert.deepEqual([(await get(`${PATH}/${id}/runs`)).total, (await used()) - before], [1, 2]);
  });
});

describe('the creation of a run', () => {
  const large = () => campaign({ country_codes: COUNTRIES, repeat_count: 20, emulator_categories: ['iphone', 'ipad'] });

  test('§2.8 a run whose creation crashes anywhere is resumed: no scan is missing, none doubled, none charged twice', async () => {
    const { id } = await large();
    const before = await used();
    const run = await post(`${PATH}/${id}/run`);
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
    const run = await post(`${PATH}/${id}/run`);
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
    const run = await post(`${PATH}/${id}/run`);
    const { allowances } = api.accounts;
    for (const one of Object.keys((await allowances.read(OURS)).reservations)) await allowances.releaseRest(OURS, one);
    await create();
    assert.ok((await api.domains.campaigns.stores.runs.find(OURS, run.id))?.cancelled_at);
    assert.equal(await countsOf(run.id), '2 0 0 0 2');
    assert.equal(await step(60_000), false, 'nothing is tried again');
  });

  test('§5.9 the checks of a run that ends in another month return to the quota of the month in which it was started', async () => {
    const { id } = await campaign({ repeat_count: 2 });
    const run = await post(`${PATH}/${id}/run`);
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
    const run = await post(`${PATH}/${id}/run`);
    const { isCreatingRun } = api.domains.campaigns.verbs;
    const parts = {
      allowances: api.accounts.allowances,
      countScans: api.scans.countOf,
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
      const run = await post(`${PATH}/${id}/run`);
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
    const run = await post(`${PATH}/${id}/run`);
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
    const runs = [await post(`${PATH}/${first.id}/run`), await post(`${PATH}/${second.id}/run`)];
    assert.deepEqual(await post(`${PATH}/${first.id}/cancel`), { cancelled_count: 3 });
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

describe('runs of groups', () => {
  test('§2.8 a group runs each campaign that is not archived, and lists those that could not be run', async () => {
    const { id: group_id } = await post(GROUPS, { name: 'Run' });
    const [one, two, gone] = [await campaign({ group_id }), await campaign({ group_id }), await campaign({ group_id })];
    await post(`${PATH}/${gone.id}/archive`);
    await api.domains.accounts.verbs.writeFinishedReservations();
    await quota((await used()) + 3);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const answer = await api.post(`${GROUPS}/${group_id}/run`, undefined, { headers });
    assert.equal(answer.status, 201);
    const { run_ids, failures, ...action } = answer.body;
    assert.deepEqual(action, { group_id, affected_campaigns: 1, cancelled_count: 0 });
    assert.equal((await get(`/api/v1/runs/${run_ids[0]}`)).trigger, 'group');
    const ran = (await get(`/api/v1/runs/${run_ids[0]}`)).campaign_id;
    assert.deepEqual(failures, [
      {
        campaign_id: [one, two].find(({ id }) => id !== ran).id,
        error_code: 'billing.quota_exhausted',
        detail: 'The organization has fewer checks left this month than the request needs.',
      },
    ]);
    assert.deepEqual((await post(`${GROUPS}/${group_id}/run`, undefined, headers)).run_ids, run_ids);
    await quota(null);
    await post(`${GROUPS}/${group_id}/archive`);
    assert.equal(await refusal(`${GROUPS}/${group_id}/run`), '409 campaign_groups.archived string');
    assert.equal(await refusal(`${GROUPS}/${group_id}/run`, KEYS.theirs), '404 not_found string');
    const reader = await api.keyThatMay('campaigns.read');
    for (const path of [
      `${GROUPS}/x/run`,
      `${GROUPS}/x/cancel`,
      `${PATH}/x/run`,
      `${PATH}/x/cancel`,
      '/api/v1/runs/x/cancel',
    ])
      assert.equal((await api.post(path, undefined, { key: reader })).status, 403, path);
  });
});
