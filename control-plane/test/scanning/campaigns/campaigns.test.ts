import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openStore } from '../../../src/platform/store.ts';
import type { CampaignRecord } from '../../../src/scanning/campaigns/campaign.ts';
import { campaignStore } from '../../../src/scanning/campaigns/campaign-store.ts';
import type { GroupRecord } from '../../../src/scanning/groups/group.ts';
import { CAMPAIGN, CAMPAIGNS, campaignCalls, GROUPS } from '../../support/campaign-calls.ts';
import '../../support/fixed-clock.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import {
  itemsOf,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

const { create, patch, newGroup, namesOf } = campaignCalls(() => api);

const refused = async (change: object): Promise<string[]> => {
  const answer = await api.post(CAMPAIGNS, { ...CAMPAIGN, ...change });
  assert.equal(answer.status, 422, answer.text);
  return itemsOf(answer);
};

describe('campaigns', () => {
  test('§2.8 a search for a part of the name reads few of many campaigns', slow, async () => {
    const { id } = await create({ name: 'The needle' });
    const campaigns = api.store.collection<CampaignRecord>('campaigns');
    const stored = (await campaigns.findOne({ _id: id }))!;
    const many = Array.from({ length: 2_400 }, (_, at) => ({ ...stored, _id: `many-${at}`, name: `Hay ${at}` }));
    await campaigns.insertMany(many);
    assert.equal(await namesOf('?q=NEEDLE'), 'The needle');
    const filter = { organization_id: stored.organization_id, is_archived: false, name: /needle/i };
    const { executionStats } = await campaigns.find(filter).sort({ created_at: -1, _id: -1 }).limit(50).explain();
    assert.ok(executionStats.totalDocsExamined < 200, `${executionStats.totalDocsExamined} examined`);
    await campaigns.deleteMany({ _id: { $in: [id, ...many.map(({ _id }) => _id)] } });
  });

  test('§2.8.80 an organization has at most 1,000 groups, however many are created at once', async () => {
    const { id } = (await api.post(GROUPS, { name: 'One' })).body;
    const groups = api.store.collection<GroupRecord>('campaign_groups');
    const stored = (await groups.findOne({ _id: id }))!;
    const left = 999 - (await groups.countDocuments({ organization_id: stored.organization_id }));
    const many = Array.from({ length: left }, (_, at) => ({ ...stored, _id: `many-${at}` }));
    await groups.insertMany(many);
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => api.post(GROUPS, { name })));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409]);
    const made = answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : []));
    await groups.deleteMany({ _id: { $in: [id, ...made, ...many.map(({ _id }) => _id)] } });
  });

  test('§2.8.80 an organization has no more campaigns than it may, archived ones included, however many are created at once', async () => {
    const newest = (await api.store.collection<CampaignRecord>('campaigns').findOne({ _id: (await create()).id }))!;
    const store = await openStore({ path: ':memory:' });
    const most = { records: 5, bytes: 1_000_000 };
    const processes = [campaignStore(store, most), campaignStore(store, most)];
    const add = (_id: string, organization_id: string) =>
      processes[Number(_id) % 2]!.insertWithin({ ...newest, _id, organization_id, is_archived: _id > '4' });
    const outcomes = await Promise.allSettled([...'123456789'].flatMap((id) => [add(id, 'a'), add(`1${id}`, 'b')]));
    const refusals = outcomes.filter(({ status }) => status === 'rejected').map((one) => Object(one).reason.code);
    assert.deepEqual(refusals, Array(8).fill('campaigns.too_many'));
    const [first] = await store.collection<CampaignRecord>('campaigns').find({ organization_id: 'a' }).toArray();
    await add(first!._id, 'a');
    assert.equal(await store.collection('campaigns').countDocuments({}), 10, 'storing one again needs no room');
    await store.close();
  });

  test('§2.8.80 the settings and targets of an organization are bounded together, however many are written at once', async () => {
    const stored = (await api.store.collection<CampaignRecord>('campaigns').findOne({ _id: (await create()).id }))!;
    const store = await openStore({ path: ':memory:' });
    const most = { records: 1_000, bytes: 100_000 };
    const processes = [campaignStore(store, most), campaignStore(store, most)];
    const large = { ...stored, campaign_type: 'ad_tag' as const, url: null, ad_tag: 'é'.repeat(10_000) };
    const add = (_id: string, at = 0) => processes[at % 2]!.insertWithin({ ...large, _id });
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => add(`${at}`, at)));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 4);
    const campaigns = store.collection<CampaignRecord>('campaigns');
    const texts = store.collection<{ _id: string }>('campaign_targets');
    const [first, second] = await campaigns.find({}).toArray();
    const [ofProcess] = processes;
    const { _id: _, organization_id: __, version: ___, ...settings } = large;
    const changeTo = async (campaign: CampaignRecord, ad_tag: string) =>
      ofProcess!.change(
        (await ofProcess!.find(campaign.organization_id, campaign._id))!,
        { ...settings, ad_tag },
        null,
      );
    await assert.rejects(changeTo(first!, 'é'.repeat(20_000)), { code: 'campaigns.too_many' });
    await changeTo(second!, 'short');
    const changed = await changeTo(first!, 'é'.repeat(20_000));
    assert.equal((await ofProcess!.withTarget(changed!)).ad_tag, 'é'.repeat(20_000));
    assert.equal(await ofProcess!.change(first!, settings, null), null, 'a change of what was changed since');
    assert.equal(await texts.countDocuments({}), 3, 'no text is left that no campaign has');
    await store.close();
  });

  test('§2.8 a campaign has every field, with the defaults of those that were not sent', async () => {
    const { id, created_at, group_id, ...campaign } = await create();
    assert.deepEqual(campaign, {
      ...{ name: 'Spring offer', campaign_type: 'url', url: 'https://shop.example/', ad_tag: null, vast_tag: null },
      ...{ referrer: null, ignore_first_n_domains: 0, max_discovered_ads: null, ad_formats: null },
      ...{ country_codes: ['US', 'PT'], proxy_type: 'residential', proxy_region: '', proxy_city: '', proxy_isp: '' },
      emulator_selection: { categories: ['android_phone'], specific_ids: [], mode: 'random' },
      ...{ repeat_count: 1, repeat_mode: 'isolated', retry_max_attempts: 0, labels: {}, policy_set_id: null },
      ...{ schedule_type: null, schedule_weekly: null, schedule_interval_seconds: null, schedule_timezone: null },
      ...{ schedule_enabled: false, next_run_at: null, last_schedule_problem: null },
      ...{ is_archived: false, last_run_at: null },
    });
    const read = (await api.get(`${CAMPAIGNS}/${id}`)).body;
    assert.deepEqual(read, { id, created_at, group_id, ...campaign });
    assert.equal((await api.get(`${GROUPS}/${group_id}`)).body.is_default, true);
    assert.equal((await api.get(`${CAMPAIGNS}/${id}`, { key: KEYS.theirs })).status, 404);
  });

  test('§2.8 all problems of a campaign are reported together, under the names of its own fields', async () => {
    const problems = await refused({
      ...{ name: '', ad_tag: '<b>x</b>', referrer: 'ftp://a.example', emulator_specific_ids: ['none'], x: 1 },
      ...{ proxy_region: 'Nowhere', country_codes: ['US'], group_id: 'g', policy_set_id: 'p', max_discovered_ads: 3 },
      ...{ labels: { BAD: 'x' } },
    });
    assert.deepEqual(problems.toSorted(), [
      ...['body.ad_tag invalid_combination', 'body.emulator_specific_ids unknown_emulator_id'],
      ...['body.group_id not_found', 'body.labels.BAD string_pattern_mismatch'],
      ...['body.max_discovered_ads invalid_combination', 'body.name string_pattern_mismatch'],
      ...['body.policy_set_id not_found', 'body.proxy_region unsupported_proxy_region'],
      ...['body.referrer url_scheme', 'body.x unexpected_field'],
    ]);
    assert.deepEqual(await refused({ campaign_type: 'ad_tag' }), [
      'body.url invalid_combination',
      'body.ad_tag missing',
    ]);
    assert.deepEqual(await refused({ emulator_categories: [] }), ['body.emulator_categories invalid_combination']);
    assert.deepEqual(await refused({ proxy_city: 'Dallas' }), [
      'body.proxy_city unsupported_proxy_city',
      'body.proxy_city invalid_combination',
    ]);
  });

  test('§2.8 a change is not refused for what it leaves as it is, such as a place that has become unroutable', async () => {
    const { id } = await create({
      country_codes: ['US'],
      proxy_city: 'Houston',
      schedule_type: 'interval',
      schedule_interval_seconds: 3_600,
    });
    const campaigns = api.store.collection<CampaignRecord>('campaigns');
    await campaigns.updateOne({ _id: id }, { $set: { proxy_city: 'Atlantis' } });
    const paused = await patch(id, { schedule_enabled: false, name: 'Paused' });
    assert.deepEqual([paused.status, paused.body.schedule_enabled, paused.body.proxy_city], [200, false, 'Atlantis']);
    for (const [change, items] of [
      [{ proxy_city: 'Atlantis' }, ['body.proxy_city unsupported_proxy_city']],
      [{ country_codes: ['PT'] }, ['body.proxy_city unsupported_proxy_city']],
      [{ proxy_type: 'mobile' }, ['body.proxy_city unsupported_proxy_city']],
      [{ repeat_count: 0 }, ['body.repeat_count greater_than_equal']],
    ] as const)
      assert.deepEqual(itemsOf(await patch(id, change)), items, JSON.stringify(change));
    assert.equal((await patch(id, { proxy_city: 'Houston' })).status, 200);
  });

  test('§2.8 until the catalogue of every provider was read, a place that it lacks gives 503 to a request that sends it', async () => {
    const partly = await runningApi({ catalogue: { ...CATALOGUE, refreshed_at: null } });
    const { body: campaign } = await partly.post(CAMPAIGNS, { ...CAMPAIGN, country_codes: ['US'] });
    const campaigns = partly.store.collection<CampaignRecord>('campaigns');
    await campaigns.updateOne({ _id: campaign.id }, { $set: { proxy_city: 'Atlantis' } });
    const change = (body: object) => partly.call('PATCH', `${CAMPAIGNS}/${campaign.id}`, { body });
    const answers = [
      await change({ name: 'Renamed' }),
      await change({ proxy_city: 'Atlantis' }),
      await partly.post(CAMPAIGNS, { ...CAMPAIGN, country_codes: ['ZZ'] }),
      await partly.post(CAMPAIGNS, { ...CAMPAIGN, country_codes: ['ZZ'], group_id: 'none' }),
    ];
    await partly.stop();
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [200, undefined],
        [503, 'catalogue.not_ready'],
        [503, 'catalogue.not_ready'],
        [422, 'validation_error'],
      ],
    );
  });

  test('§4.2.12 null clears a field, an omitted one stays, and what cannot be null is refused', async () => {
    const { id } = await create({ referrer: 'https://Pub.example/a', labels: { team: 'red' }, repeat_count: 3 });
    const changed = (await patch(id, { referrer: null, name: ' Renamed ' })).body;
    assert.deepEqual([changed.referrer, changed.name, changed.repeat_count], [null, 'Renamed', 3]);
    assert.deepEqual(changed.labels, { team: 'red' });
    const nulls = { name: null, ignore_first_n_domains: null, country_codes: null, labels: null, campaign_type: 'url' };
    const answer = await patch(id, { ...nulls, url: null, referrer: 'x', max_discovered_ads: null, ad_formats: null });
    assert.deepEqual(itemsOf(answer).toSorted(), [
      ...[
        'body.campaign_type unexpected_field',
        'body.country_codes list_type',
        'body.ignore_first_n_domains int_type',
      ],
      ...['body.labels object_type', 'body.name string_type', 'body.referrer url_parsing', 'body.url missing'],
    ]);
    assert.equal((await api.get(`${CAMPAIGNS}/${id}`)).body.name, 'Renamed');
  });

  test('§2.8 a long ad tag is returned by its campaign, and null in lists', async () => {
    const [long, longer] = [`<div>${'x'.repeat(5_000)}</div>`, `<div>${'y'.repeat(6_000)}</div>`];
    const { id, ad_tag } = await create({ campaign_type: 'ad_tag', url: null, ad_tag: long, name: 'Tagged' });
    assert.equal(ad_tag, long);
    const [row] = (await api.get(`${CAMPAIGNS}?q=tagged`)).body.items;
    assert.deepEqual([row.id, row.ad_tag, row.url], [id, null, '']);
    assert.equal((await patch(id, { ad_tag: longer })).body.ad_tag, longer);
    assert.equal((await patch(id, { name: 'Tagged too' })).body.ad_tag, longer);
    assert.equal(await api.store.collection('campaign_targets').countDocuments({}), 1);
    assert.equal((await patch(id, { ad_tag: '<b>short</b>' })).body.ad_tag, '<b>short</b>');
    assert.equal(await api.store.collection('campaign_targets').countDocuments({}), 0);
    assert.deepEqual(itemsOf(await patch(id, { ad_tag: null })), ['body.ad_tag missing']);
  });

  test('§2.8 a campaign whose long ad tag is replaced while it is read is read as it is then', async () => {
    const { campaigns } = api.domains.campaigns.stores;
    const { id } = await create({ campaign_type: 'ad_tag', url: null, ad_tag: `<div>${'x'.repeat(5_000)}</div>` });
    const before = (await campaigns.find(ORGANIZATIONS.ours, id))!;
    const longer = `<div>${'y'.repeat(6_000)}</div>`;
    await patch(id, { ad_tag: longer, repeat_count: 3 });
    assert.partialDeepStrictEqual(await campaigns.withTarget(before), { ad_tag: longer, repeat_count: 3 });
    await patch(id, { ad_tag: '<b>short</b>' });
    assert.equal((await campaigns.withTarget(before)).ad_tag, '<b>short</b>');
    await api.store.collection('campaign_targets').deleteMany({});
  });

  test('§2.8 of two changes at the same time, both are kept', async () => {
    const { id } = await create();
    await Promise.all([patch(id, { repeat_count: 4 }), patch(id, { retry_max_attempts: 2 }), patch(id, { name: 'X' })]);
    const { repeat_count, retry_max_attempts, name } = (await api.get(`${CAMPAIGNS}/${id}`)).body;
    assert.deepEqual([repeat_count, retry_max_attempts, name], [4, 2, 'X']);
  });

  test('§4.5 the list is filtered by name, group, days and archive', async () => {
    const group_id = await newGroup('Filtered');
    for (const name of ['Alpha.1', 'alphaX1', 'Beta']) await create({ name, group_id });
    const today = new Date().toISOString().slice(0, 10);
    const inGroup = `?group_id=${group_id}`;
    assert.equal(await namesOf(inGroup), 'Beta alphaX1 Alpha.1');
    assert.equal(await namesOf(`${inGroup}&q=ALPHA`), 'alphaX1 Alpha.1');
    assert.equal(await namesOf(`${inGroup}&q=a.1`), 'Alpha.1');
    assert.equal(await namesOf(`${inGroup}&q=%00`), '');
    assert.equal(await namesOf(`${inGroup}&created_from=2001-01-01&limit=1&page=2`), 'alphaX1');
    assert.equal(await namesOf(`${inGroup}&created_to=2001-01-01`), '');
    assert.equal(await namesOf(`${inGroup}&last_run_from=2001-01-01`), '');
    assert.equal(await namesOf(`${inGroup}&last_run_to=${today}`), '');
    assert.equal(await namesOf(`${inGroup}&archived=true`), '');
    const [first] = (await api.get(`${CAMPAIGNS}/picker${inGroup}&limit=1`)).body;
    assert.deepEqual(Object.keys(first).toSorted(), ['group_id', 'id', 'is_archived', 'name', 'policy_set_id']);
    for (const path of [CAMPAIGNS, GROUPS]) {
      const answer = await api.get(`${path}?created_from=2026-02-02&created_to=2026-02-01&timezone=Mars/X&sort=x`);
      assert.deepEqual(itemsOf(answer).toSorted(), [
        'query.created_from invalid_combination',
        'query.sort unexpected_field',
        'query.timezone unknown_timezone',
      ]);
    }
  });

  test('§4.5 days are whole days of the timezone, both ends included, and a bound of the last run excludes what never ran', async () => {
    const [campaigns, groups] = [
      api.store.collection<CampaignRecord>('campaigns'),
      api.store.collection<GroupRecord>('campaign_groups'),
    ];
    // The 15th in Auckland is from 11:00 UTC of the 14th until 11:00 UTC of the 15th.
    const moments = { before: '14T10:59:59.999', first: '14T11:00', last: '15T10:59:59.999', after: '15T11:00' };
    for (const [name, time] of Object.entries({ ...moments, never: '15T00:00' })) {
      const at = new Date(`2026-01-${time}Z`);
      const [group_id, { id }] = [await newGroup(`Days ${name}`), await create({ name: `Days ${name}` })];
      await groups.updateOne({ _id: group_id }, { $set: { created_at: at } });
      const last_run_at = name === 'never' ? null : at;
      await campaigns.updateOne({ _id: id }, { $set: { created_at: at, last_run_at, group_id } });
    }
    const found = async (query: string): Promise<string[]> => {
      const [list, all] = [
        (await api.get(`${CAMPAIGNS}?q=days&${query}`)).body,
        (await api.get(`${GROUPS}?q=DAYS&${query}`)).body,
      ];
      const picked = (rows: Json[]) =>
        rows.map(({ name }) => name.replace('Days ', '')).filter((one) => one !== 'never');
      assert.deepEqual(picked(all), picked(list.items), 'groups are filtered as campaigns are');
      if (query.startsWith('last_run')) assert.ok([...list.items, ...all].every(({ name }) => name !== 'Days never'));
      return picked(list.items);
    };
    const IN_AUCKLAND = 'timezone=Pacific/Auckland';
    for (const name of ['created', 'last_run']) {
      const [from, to] = [`${name}_from=2026-01-15`, `${name}_to=2026-01-15`];
      assert.deepEqual(await found(`${from}&${to}&${IN_AUCKLAND}`), ['last', 'first']);
      assert.deepEqual(await found(`${from}&${IN_AUCKLAND}`), ['after', 'last', 'first']);
      assert.deepEqual(await found(`${to}&${IN_AUCKLAND}`), ['last', 'first', 'before']);
      assert.deepEqual(await found(`${name}_to=2026-01-14`), ['first', 'before'], 'in UTC by default');
    }
    assert.deepEqual(await found('created_from=2026-01-15&last_run_to=2026-01-15'), ['after', 'last']);
    assert.equal((await api.get(`${CAMPAIGNS}?q=days&created_from=2026-01-14&created_to=2026-01-15`)).body.total, 5);
    for (const path of [CAMPAIGNS, GROUPS]) {
      const answer = await api.get(`${path}?last_run_from=2026-02-02&last_run_to=2026-02-01&created_to=2026-02-30`);
      assert.deepEqual(
        itemsOf(answer).map((item) => item.split(' ')[0]),
        ['query.created_to', 'query.last_run_from'],
      );
    }
  });

  test('§4.5 `archived` lists archived ones and no others, in the picker too; names need not be unique', async () => {
    const group_id = await newGroup('Of twins');
    const [first, second] = [await create({ group_id, name: 'Twin' }), await create({ group_id, name: 'Twin' })];
    const { id } = (await api.post('/api/v1/scans', { ...PAGE, campaign_id: first.id })).body;
    for (let time = 0; time < 2; time += 1)
      assert.equal((await api.post(`${CAMPAIGNS}/${first.id}/archive`)).body.is_archived, true);
    assert.equal((await api.get(`/api/v1/scans/${id}`)).body.status, 'pending', 'what waits goes on');
    const idsOf = async (query: string): Promise<string[]> => {
      const [list, picker] = [
        (await api.get(`${CAMPAIGNS}?group_id=${group_id}${query}`)).body.items,
        (await api.get(`${CAMPAIGNS}/picker?group_id=${group_id}${query}`)).body,
      ];
      assert.deepEqual(
        picker.map(({ id }: Json) => id),
        list.map(({ id }: Json) => id),
      );
      return list.map(({ id }: Json) => id);
    };
    assert.deepEqual(await idsOf(''), [second.id]);
    assert.deepEqual(await idsOf('&archived=false&q=twi'), [second.id]);
    assert.deepEqual(await idsOf('&archived=true'), [first.id]);
    assert.equal((await api.get(`${CAMPAIGNS}?group_id=${group_id}`, { key: KEYS.theirs })).body.total, 0);
    for (let time = 0; time < 2; time += 1)
      assert.equal((await api.post(`${CAMPAIGNS}/${first.id}/unarchive`)).body.is_archived, false);
    assert.deepEqual(await idsOf(''), [second.id, first.id]);
    for (const query of ['?limit=201', '?page=0', '/picker?limit=101'])
      assert.equal((await api.get(`${CAMPAIGNS}${query}`)).status, 422, query);
  });

  test('§4.2.12 null restores the default of what limits a sweep, and an omitted key leaves it', async () => {
    const sweep = { campaign_type: 'ad_discovery', max_discovered_ads: 3, ad_formats: ['pop', 'banner'] };
    const { id, ...made } = await create(sweep);
    const limitsOf = ({ max_discovered_ads, ad_formats }: Json) => ({ max_discovered_ads, ad_formats });
    const set = { max_discovered_ads: 3, ad_formats: ['pop', 'banner'] };
    assert.deepEqual(limitsOf(made), set);
    assert.deepEqual(limitsOf((await patch(id, { name: 'Other' })).body), set);
    assert.deepEqual(limitsOf((await patch(id, { max_discovered_ads: null })).body), {
      ...set,
      max_discovered_ads: null,
    });
    const none = { max_discovered_ads: null, ad_formats: null };
    assert.deepEqual(limitsOf((await patch(id, { ad_formats: null })).body), none);
    for (const [field, value] of [
      ['max_discovered_ads', 26],
      ['ad_formats', []],
      ['ad_formats', ['pop', 'pop']],
    ] as const)
      assert.equal((await patch(id, { [field]: value })).status, 422, `${field} ${value}`);
  });

  test('§5.4 reading needs campaigns.read, and everything else campaigns.write', async () => {
    const [reader, writer] = [await api.keyThatMay('campaigns.read'), await api.keyThatMay('campaigns.write')];
    const status = async (method: string, path: string, key: string) => (await api.call(method, path, { key })).status;
    assert.equal(await status('GET', CAMPAIGNS, reader), 200);
    assert.equal(await status('GET', `${CAMPAIGNS}/picker`, reader), 200);
    assert.equal(await status('GET', GROUPS, writer), 403);
    assert.equal(await status('POST', `${CAMPAIGNS}/x/archive`, reader), 403);
    assert.equal(await status('POST', `${GROUPS}/x/archive`, writer), 404);
    const reads = [
      `${CAMPAIGNS}/x`,
      `${CAMPAIGNS}/x/runs`,
      `${CAMPAIGNS}/x/changes`,
      `${GROUPS}/x`,
      '/api/v1/runs/x',
      '/api/v1/runs/x/scans',
    ];
    for (const path of reads)
      assert.deepEqual([await status('GET', path, reader), await status('GET', path, writer)], [404, 403], path);
  });
});
