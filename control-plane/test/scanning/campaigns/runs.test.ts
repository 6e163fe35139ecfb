import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { CAMPAIGNS, GROUPS } from '../../support/campaign-calls.ts';
import { apiForRuns, COUNTRIES, runCalls } from '../../support/run-calls.ts';
import { KEYS, PAGE, type RunningApi } from '../../support/running-api.ts';

let api: RunningApi;
before(async () => {
  api = await apiForRuns();
});
after(() => api.stop());

const { post, get, campaign, refusal, countsOf, scansOf, record, quota, used, reservations, create } = runCalls(
  () => api,
);

describe('runs by hand', () => {
  test('§4.5 a run is accepted at once with all its scans, which are created in the priority class of campaigns', async () => {
    const { id } = await campaign({ repeat_count: 2, emulator_categories: ['iphone', 'ipad'] });
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    assert.deepEqual([run.campaign_id, run.source, run.trigger, run.total], [id, 'ui', 'manual', 8]);
    assert.equal((await get(`${CAMPAIGNS}/${id}`)).last_run_at, run.created_at);
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
    const run = await post(`${CAMPAIGNS}/${id}/run`);
    assert.equal((await api.call('PATCH', `${CAMPAIGNS}/${id}`, { body: { referrer: null } })).status, 200);
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
    const ofTag = await post(`${CAMPAIGNS}/${tagged.id}/run`);
    assert.equal(
      (await api.call('PATCH', `${CAMPAIGNS}/${tagged.id}`, { body: { ad_tag: '<b>new</b>' } })).status,
      200,
    );
    await create();
    const [first] = await scansOf(ofTag.id);
    assert.equal((await get(`/api/v1/scans/${first!._id}`)).ad_tag, tagged.ad_tag, 'what the campaign had at the run');
  });

  test('§2.8 `random` draws one device of each category for a run, `all` takes every one, each device runs once', async () => {
    const pixel = EMULATORS.find(({ category }) => category === 'android_phone')!.id;
    const ofPhones = EMULATORS.filter(({ category }) => category === 'android_phone').map(({ id }) => id);
    const devices = async (change: object) => {
      const run = await post(`${CAMPAIGNS}/${(await campaign(change)).id}/run`);
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
      await api.post(CAMPAIGNS, { name: 'Too large', url: 'https://shop.example/', ...tooLarge }),
      await api.call('PATCH', `${CAMPAIGNS}/${id}`, { body: { emulator_specific_ids: devices.slice(0, 26) } }),
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
    const run = await post(`${CAMPAIGNS}/${id}/run`);
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
    assert.equal(await refusal(`${CAMPAIGNS}/${id}/run`), '403 billing.quota_exhausted string');
    assert.equal((await get(`${CAMPAIGNS}/${id}/runs`)).total, 0);
    await quota((await used()) + 6);
    await post(`${CAMPAIGNS}/${id}/run`);
    assert.equal(await refusal(`${CAMPAIGNS}/${id}/run`), '403 billing.quota_exhausted string');
    assert.equal((await api.post('/api/v1/scans', PAGE)).status, 403, 'what a run has reserved is not left for others');
    await quota(null);
    await create();
    assert.equal(await refusal(`${CAMPAIGNS}/${id}/run`, KEYS.theirs), '404 not_found string');
    await post(`${CAMPAIGNS}/${id}/archive`);
    assert.equal(await refusal(`${CAMPAIGNS}/${id}/run`), '409 campaigns.archived string');
  });

  test('§2.8 a repeated request with the same Idempotency-Key starts one run', async () => {
    const { id } = await campaign();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const before = await used();
    const runs = [
      await post(`${CAMPAIGNS}/${id}/run`, undefined, headers),
      await post(`${CAMPAIGNS}/${id}/run`, undefined, headers),
    ];
    assert.equal(runs[0].id, runs[1].id);
    await create();
    assert.deepEqual([(await get(`${CAMPAIGNS}/${id}/runs`)).total, (await used()) - before], [1, 2]);
  });
});

describe('runs of groups', () => {
  test('§2.8 a group runs each campaign that is not archived, and lists those that could not be run', async () => {
    const { id: group_id } = await post(GROUPS, { name: 'Run' });
    const [one, two, gone] = [await campaign({ group_id }), await campaign({ group_id }), await campaign({ group_id })];
    await post(`${CAMPAIGNS}/${gone.id}/archive`);
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
      `${CAMPAIGNS}/x/run`,
      `${CAMPAIGNS}/x/cancel`,
      '/api/v1/runs/x/cancel',
    ])
      assert.equal((await api.post(path, undefined, { key: reader })).status, 403, path);
  });
});
