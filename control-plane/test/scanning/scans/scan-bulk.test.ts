import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isId, newId } from '@adsweep/shared/ids.ts';
import { hashApiKey } from '../../../src/accounts/keys/api-key.ts';
import { createRoutes } from '../../../src/scanning/scans/api/create-routes.ts';
import { scanCreation } from '../../../src/scanning/scans/request/create-scans.ts';
import { newScan } from '../../../src/scanning/scans/request/new-scan.ts';
import { PRICE_MICROS, PUBLIC_URL } from '../../support/open-plane.ts';
import {
  type Answered,
  EVERYTHING,
  FIRST,
  itemsOf,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

const { country_code: _, ...SETTINGS } = PAGE;
const BULK = { ...SETTINGS, country_codes: ['US', 'pt'] };

describe('creating several scans with one request', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { catalogueEveryMs: 5 } });
  });
  after(() => api.stop());

  const total = async () => (await api.scans.list(ORGANIZATIONS.ours, EVERYTHING, FIRST)).total;
  const bulk = (body: object, sent = {}) => api.post('/api/v1/scans/bulk', body, sent);
  const idsOf = (leader: Json): string[] => [leader.id, ...(leader.repeat_scan_ids ?? [])];
  const accepted = (answer: Answered): Json => {
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const refused = async (change: object): Promise<Json> => {
    const before = await total();
    const answer = await bulk({ ...BULK, ...change });
    assert.equal(answer.status, 422, answer.text);
    assert.equal(await total(), before, 'nothing was created');
    return { items: itemsOf(answer), ...answer.body };
  };

  test('§4.2.8 bulk returns a plain list of one pending scan for each country, in their order', async () => {
    const scans = accepted(await bulk(BULK));
    assert.deepEqual(
      scans.map(({ country_code, status, repeat_total }: Json) => [country_code, status, repeat_total]),
      [
        ['US', 'pending', 1],
        ['PT', 'pending', 1],
      ],
    );
    assert.ok(scans.every((scan: Json) => !('repeat_scan_ids' in scan)));
  });

  test('§2.1.9 the response to a group of repeats is its leader, which names the others in their order', async () => {
    const leader = accepted(await api.post('/api/v1/scans', { ...PAGE, repeat_count: 3 }));
    assert.equal(leader.repeat_scan_ids.length, 2);
    const scans = await Promise.all(idsOf(leader).map(async (id) => (await api.get(`/api/v1/scans/${id}`)).body));
    assert.deepEqual(
      scans.map(({ repeat_index, repeat_total, repeat_session_id }) => [repeat_index, repeat_total, repeat_session_id]),
      [
        [0, 3, null],
        [1, 3, null],
        [2, 3, null],
      ],
    );
    assert.ok(
      scans.every((scan) => !('repeat_scan_ids' in scan)),
      'on the create answer alone',
    );
    const { items } = (await api.get(`/api/v1/scans?scan_id=${leader.repeat_scan_ids[1]}`)).body;
    assert.deepEqual([items[0].repeat_index, items[0].repeat_total], [2, 3]);
  });

  test('§2.1.20 every scan of a group names its leader, which is a filter of the list; single scans name none', async () => {
    for (const repeat_mode of ['isolated', 'shared']) {
      const leader = accepted(await api.post('/api/v1/scans', { ...PAGE, repeat_count: 3, repeat_mode }));
      assert.equal(leader.repeat_leader_id, leader.id);
      const { items, total: found } = (await api.get(`/api/v1/scans?repeat_leader_id=${leader.id}`)).body;
      assert.deepEqual(items.map(({ id }: Json) => id).toSorted(), idsOf(leader).toSorted());
      assert.equal(found, 3);
      assert.deepEqual(new Set(items.map((item: Json) => item.repeat_leader_id)), new Set([leader.id]));
      const foreign = await api.get(`/api/v1/scans?repeat_leader_id=${leader.id}`, { key: KEYS.theirs });
      assert.equal(foreign.body.total, 0);
    }
    const single = accepted(await api.post('/api/v1/scans', PAGE));
    assert.equal(single.repeat_leader_id, null);
  });

  test('§4.2.9 each repeat in each country is a scan with a job and a charge of its own', async () => {
    const before = await total();
    const leaders = accepted(await bulk({ ...BULK, repeat_count: 5 }));
    const ids: string[] = leaders.flatMap(idsOf);
    assert.equal(new Set(ids).size, 10);
    assert.equal(await total(), before + 10);
    const jobs = await api.takeJobs(ids.at(-1)!);
    for (const id of ids) {
      const scan = await api.scans.find(ORGANIZATIONS.ours, id);
      assert.deepEqual([scan?.job_id, scan?.slot, scan?.band], [id, 0, 1]);
      assert.deepEqual(
        scan?.outbox.map((entry) => [entry.id, 'amount_micros' in entry && entry.amount_micros]),
        [[`charge:${id}`, PRICE_MICROS]],
      );
      assert.equal(jobs.filter((job) => job === id).length, 1);
    }
  });

  test('§4.2.24 repeats that share a browser are one job for each country, whose members are charged one by one', async () => {
    const leaders = accepted(await bulk({ ...BULK, repeat_count: 3, repeat_mode: 'shared' }));
    const sessions = new Set<string>();
    for (const leader of leaders) {
      const scans = await Promise.all(idsOf(leader).map((id) => api.scans.find(ORGANIZATIONS.ours, id)));
      assert.deepEqual(
        scans.map((scan) => [scan?.job_id, scan?.job_kind, scan?.slot, scan?.repeat?.index, scan?.band]),
        [0, 1, 2].map((index) => [leader.id, 'repeat_group', index, index, 1]),
      );
      for (const scan of scans)
        assert.deepEqual(
          scan?.outbox.map(({ id }) => id),
          [`charge:${scan?._id}`],
        );
      assert.deepEqual(
        scans.map((scan) => scan?.repeat?.session_id),
        Array(3).fill(leader.repeat_session_id),
      );
      sessions.add(leader.repeat_session_id);
    }
    assert.equal(sessions.size, 2, 'no two groups share one');
    for (const session of sessions) assert.ok(isId(session));
  });

  test('§4.2.24 a repeated request for a shared group creates the same group', async () => {
    const key = { 'Idempotency-Key': newId() };
    const body = { ...PAGE, repeat_count: 2, repeat_mode: 'shared' };
    const before = await total();
    const [first, second] = [
      accepted(await api.post('/api/v1/scans', body, { headers: key })),
      accepted(await api.post('/api/v1/scans', body, { headers: key })),
    ];
    assert.deepEqual([idsOf(second), second.repeat_session_id], [idsOf(first), first.repeat_session_id]);
    assert.equal(await total(), before + 2);
  });

  test('§4.2.24 a single repeat does not share its browser', async () => {
    const scan = accepted(await api.post('/api/v1/scans', { ...PAGE, repeat_count: 1, repeat_mode: 'shared' }));
    const stored = await api.scans.find(ORGANIZATIONS.ours, scan.id);
    assert.deepEqual([scan.repeat_session_id, stored?.job_kind, stored?.repeat], [null, 'page', undefined]);
  });

  test('§2.1.9 the settings are those of every member, values in the spelling of its country', async () => {
    const leaders = accepted(
      await bulk({
        ...BULK,
        country_codes: ['US'],
        labels: { team: 'a' },
        proxy: { city: 'houston' },
        repeat_count: 2,
      }),
    );
    for (const id of idsOf(leaders[0])) {
      const scan = await api.scans.find(ORGANIZATIONS.ours, id);
      assert.deepEqual([scan?.labels, scan?.proxy?.city], [{ team: 'a' }, 'Houston']);
    }
  });

  test('§4.2.8 a request that is invalid for one country creates no scan, and the error names each such country', async () => {
    const { items, code, detail } = await refused({ country_codes: ['US', 'xx', 'PT', 'yy'] });
    assert.deepEqual(items, [
      'body.country_codes.1 unsupported_country_code',
      'body.country_codes.3 unsupported_country_code',
    ]);
    assert.equal(code, 'scanning.unsupported_country_code');
    const named = detail.map(({ ctx }: Json) => [ctx.given, ctx.country_codes, ctx.valid_total]);
    assert.deepEqual(named, [
      ['xx', ['XX'], 2],
      ['yy', ['YY'], 2],
    ]);
  });

  test('§2.4.2 §4.2.8 the error for a place that some countries do not have names only these', async () => {
    const { items, detail } = await refused({ proxy: { region: 'Texas' } });
    assert.deepEqual(items, ['body.proxy.region unsupported_proxy_region']);
    assert.deepEqual(detail[0].ctx, {
      given: 'Texas',
      country_codes: ['PT'],
      valid_sample: ['Lisboa'],
      valid_total: 1,
    });
    const unknown = await refused({ emulator_id: 'nokia_3310' });
    assert.deepEqual(unknown.detail[0].ctx.country_codes, ['US', 'PT']);
  });

  const REFUSED: [what: string, change: object, items: string[]][] = [
    ['no country', { country_codes: [] }, ['body.country_codes too_short']],
    ['a country twice, in any letter case', { country_codes: ['US', 'us'] }, ['body.country_codes.1 duplicate_items']],
    ['a country that is no text', { country_codes: ['US', 5] }, ['body.country_codes.1 string_type']],
    ['more countries than there are', { country_codes: Array(251).fill('US') }, ['body.country_codes too_long']],
    ['the field of the single call', { country_code: 'US' }, ['body.country_code unexpected_field']],
    ['no countries at all', { country_codes: undefined }, ['body.country_codes missing']],
    ['what belongs to sweeps', { max_discovered_ads: 3 }, ['body.max_discovered_ads invalid_combination']],
    ['a repeat count above 20', { repeat_count: 21 }, ['body.repeat_count less_than_equal']],
    [
      'a sweep with shared repeats',
      { ad_discovery: true, repeat_mode: 'shared' },
      ['body.repeat_mode invalid_combination'],
    ],
    ['a run without its campaign', { run_id: 'r' }, ['body.run_id invalid_combination']],
    ['two targets', { ad_tag: '<b>' }, ['body.ad_tag invalid_combination']],
    ['a private referrer', { referrer: 'http://10.0.0.1/' }, ['body.referrer url_private_host']],
  ];
  for (const [what, change, items] of REFUSED)
    test(`§4.2.8 bulk refuses ${what}`, async () => {
      assert.deepEqual((await refused(change)).items, items);
    });

  test('§4.2.18 a repeated request returns the first response, also if a later one with its body would be refused', async () => {
    const { country_codes: _, ...settings } = { ...BULK, proxy: { city: 'Houston' } };
    const ours = { ...settings, country_codes: ['US'] };
    const calls = {
      single: (body: object = {}) =>
        api.post(
          '/api/v1/scans',
          { ...settings, country_code: 'US', ...body },
          { headers: { 'idempotency-key': 'one' } },
        ),
      bulk: (body: object = {}) => bulk({ ...ours, ...body }, { headers: { 'idempotency-key': 'many' } }),
    };
    const first = [accepted(await calls.single()), accepted(await calls.bulk())];
    const before = await total();
    const pools = CATALOGUE.pools.map((pool) => ({ ...pool, cities: [], cities_by_region: {} }));
    await api.serveCatalogue({ ...CATALOGUE, pools });
    const again = [await calls.single(), await calls.bulk()];
    const others = [await calls.single({ labels: { a: 'b' } }), await calls.bulk({ labels: { a: 'b' } })];
    await api.serveCatalogue(CATALOGUE);
    assert.deepEqual(again.map(accepted), first);
    assert.deepEqual(
      again.map(({ headers }) => headers.get('idempotency-replayed')),
      ['true', 'true'],
    );
    for (const other of others) assert.equal(other.body.code, 'idempotency.key_reused');
    assert.equal(await total(), before);
  });

  test('a target whose response would be too large is refused', async () => {
    const { pools } = CATALOGUE;
    const countries = Array.from({ length: 100 }, (_, n) => `A${n}`);
    await api.serveCatalogue({
      ...CATALOGUE,
      pools: countries.map((country_code) => ({ ...pools[0]!, country_code })),
    });
    const url = `https://shop.example/${'x'.repeat(30_000)}`;
    const answer = await bulk({ ...BULK, url, country_codes: countries });
    await api.serveCatalogue(CATALOGUE);
    assert.deepEqual(itemsOf(answer), ['body.url string_too_long']);
    assert.match(answer.body.detail[0].msg, /at most 25000 characters/);
  });

  test('a campaign and its run are looked up for the requesting organization', async () => {
    const { scan, accounts, reference, crawling } = api.domains;
    const creation = scanCreation({
      ...{ ...scan.stores, ...accounts.verbs, ...reference.verbs, ...crawling.verbs, ...api.settings },
      ...{ log: api.logger, submitted: () => {}, outboxFilled: () => {} },
      joinRun: async () => 'today',
      ...{ isRunCancelled: async () => false, cancel: async () => null },
      findCampaign: async (organizationId, campaignId, runId) => ({
        hasCampaign: organizationId === ORGANIZATIONS.ours && campaignId === 'mine',
        hasRun: runId === null || runId === 'today',
        isArchived: false,
        isRunCancelled: false,
      }),
    });
    const withCampaign = createRoutes({
      ...{ creation, ...scan.stores, ...accounts.verbs, urls: { publicUrl: PUBLIC_URL, hasConsole: true } },
      campaignWordsOf: async () => new Map(),
    });
    const { call, stop } = await api.serve(withCampaign);
    const ask = (change: object, key = KEYS.ours) =>
      call('POST', '/api/v1/scans/bulk', { body: { ...BULK, ...change }, key });
    const leaders = accepted(await ask({ campaign_id: 'mine', run_id: 'today' }));
    for (const { campaign_id } of leaders) assert.equal(campaign_id, 'mine');
    const before = await total();
    const unknownRun = await ask({ campaign_id: 'mine', run_id: 'other' });
    assert.deepEqual([unknownRun.status, itemsOf(unknownRun)], [422, ['body.run_id not_found']]);
    const unknown = await ask({ campaign_id: 'theirs' });
    assert.deepEqual([unknown.status, itemsOf(unknown)], [422, ['body.campaign_id not_found']]);
    assert.equal(await total(), before, 'nothing was created');
    assert.deepEqual(itemsOf(await ask({ campaign_id: 'mine' }, KEYS.theirs)), ['body.campaign_id not_found']);
    await stop();
  });

  test('§4.2.18 an interrupted request that is repeated creates the missing scans, and none twice', async () => {
    const headers = { 'idempotency-key': 'bulk-1' };
    const body = { ...BULK, repeat_count: 4 };
    const first = accepted(await bulk(body, { headers }));
    const ids: string[] = first.flatMap(idsOf);
    const key = await api.accounts.keys.findByHash(hashApiKey(KEYS.ours));
    const scope = `${key?._id} POST /api/v1/scans/bulk`;
    await api.store
      .collection('idempotency_keys')
      .updateMany({ 'answer.body': { $regex: ids[0]! } }, { $set: { answer: null } });
    await api.idempotency.interrupt(scope, 'bulk-1');
    await api.store.collection<{ _id: string }>('scans').deleteMany({ _id: { $in: ids.slice(5) } });
    const before = await total();
    const again = accepted(await bulk(body, { headers }));
    assert.deepEqual(again.flatMap(idsOf), ids);
    assert.equal(await total(), before + 3);
    const replayed = await bulk(body, { headers });
    assert.deepEqual([replayed.headers.get('idempotency-replayed'), replayed.body], ['true', again]);
  });

  test('§4.2.18 the same key on the single call and on bulk are two requests', async () => {
    const headers = { 'idempotency-key': 'both' };
    assert.equal((await api.post('/api/v1/scans', PAGE, { headers })).status, 201);
    assert.equal((await bulk(BULK, { headers })).status, 201);
  });

  test('§4.2.19 a dry run of bulk returns the number of scans, their price and the countries without a route', async () => {
    const before = await total();
    const body = { ...BULK, repeat_count: 5, proxy: { proxy_type: 'mobile' } };
    const { status, body: answer } = await api.post('/api/v1/scans/bulk?dry_run=true', body);
    assert.equal(status, 200);
    assert.deepEqual(answer, {
      dry_run: true,
      scans: 10,
      checks: { min: 10, max: 10 },
      cost_micros: { min: 10 * PRICE_MICROS, max: 10 * PRICE_MICROS },
      routable: false,
      warnings: ['PT has no mobile exits; the scan would fail.'],
    });
    assert.equal(await total(), before);
  });

  test('§3.5 cancelling a leader does not cancel the other scans of its group', async () => {
    const leader = accepted(await api.post('/api/v1/scans', { ...PAGE, repeat_count: 2 }));
    assert.deepEqual((await api.post(`/api/v1/scans/${leader.id}/cancel`)).body, { cancelled_count: 1 });
    const other = (await api.get(`/api/v1/scans/${leader.repeat_scan_ids[0]}`)).body;
    assert.equal(other.status, 'pending');
  });

  test('the children of a scan are listed in pages, and only for its organization', async () => {
    const parent = accepted(await api.post('/api/v1/scans', PAGE));
    const options = { organizationId: ORGANIZATIONS.ours, priceMicros: 0 };
    const children = ['a', 'b', 'c'].map(() =>
      newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, new Date()),
    );
    for (const child of children) await api.scans.insertUnlessExists({ ...child, parent_scan_id: parent.id });
    const path = `/api/v1/scans/${parent.id}/children`;
    const { body } = await api.get(`${path}?limit=2`);
    assert.deepEqual([body.total, body.items.length, body.pages], [3, 2, 2]);
    const rest = await api.get(`${path}?limit=2&cursor=${body.next_cursor}`);
    assert.equal(rest.body.items.length, 1);
    const found = [...body.items, ...rest.body.items];
    assert.deepEqual(found.map(({ id }: Json) => id).sort(), children.map(({ _id }) => _id).sort());
    assert.ok(found.every(({ parent_scan_id }: Json) => parent_scan_id === parent.id));
    assert.deepEqual(itemsOf(await api.get(`${path}?limit=201`)), ['query.limit less_than_equal']);
    const { next_cursor: ofAll } = (await api.get('/api/v1/scans?limit=1')).body;
    for (const cursor of ['x', ofAll])
      assert.deepEqual(itemsOf(await api.get(`${path}?cursor=${cursor}`)), ['query.cursor invalid_cursor']);
    await api.store.collection<{ _id: string }>('scans').deleteOne({ _id: body.items[1].id });
    const afterRemoved = await api.get(`${path}?limit=2&cursor=${body.next_cursor}`);
    assert.deepEqual(afterRemoved.body.items, rest.body.items, 'also after a row that retention has removed');
    assert.equal((await api.get(path, { key: KEYS.theirs })).status, 404);
    assert.deepEqual((await api.get(`/api/v1/scans/${rest.body.items[0].id}/children`)).body.items, []);
  });
});
