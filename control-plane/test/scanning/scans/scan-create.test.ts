import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import {
  EVERYTHING,
  FIRST,
  itemsOf,
  type Json,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

describe('creating a scan', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const create = (body: unknown) => api.post('/api/v1/scans', body);
  const refused = async (change: object): Promise<{ items: string[]; code: string; detail: Json[] }> => {
    const answer = await create({ ...PAGE, ...change });
    assert.equal(answer.status, 422, answer.text);
    return { items: itemsOf(answer), code: answer.body.code, detail: answer.body.detail };
  };
  const storedScans = () => api.scans.list(ORGANIZATIONS.ours, EVERYTHING, FIRST);

  test('§3.1 a valid request gives 201, an id and the status pending', async () => {
    const answer = await create(PAGE);
    assert.equal(answer.status, 201);
    assert.equal(answer.body.status, 'pending');
    assert.match(answer.body.id, /^[0-9a-f-]{36}$/);
    assert.equal(answer.body.url, PAGE.url);
  });

  test('§4.2.9 one write holds the scan and its charge, and the scan is queued once', async () => {
    const { body } = await create(PAGE);
    const record = await api.scans.find(ORGANIZATIONS.ours, body.id);
    assert.deepEqual(
      record?.outbox.map(({ id, kind }) => [id, kind]),
      [[`charge:${body.id}`, 'charge']],
    );
    assert.equal(record?.price_micros, PRICE_MICROS);
    assert.equal((await api.takeJobs(body.id)).filter((id) => id === body.id).length, 1);
  });

  test('§1.1 a scan is acknowledged while the queue is unavailable', async () => {
    await api.redis.kill();
    const answer = await create(PAGE);
    await api.redis.start();
    assert.equal(answer.status, 201);
    assert.ok(await api.scans.find(ORGANIZATIONS.ours, answer.body.id));
  });

  test('§2.1.4 a country is accepted in any letter case and returned in upper case', async () => {
    const answer = await create({ ...PAGE, country_code: 'us' });
    assert.equal(answer.body.country_code, 'US');
  });

  test('§2.2.2 §4.1.2 values of the catalogue are accepted in any letter case and stored in its spelling', async () => {
    const proxy = { proxy_type: 'Residential', region: 'cALIFORNIA', city: 'los angeles', isp: 'VERIZON FIOS' };
    const answer = await create({ ...PAGE, proxy });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.body.proxy, {
      proxy_type: 'residential',
      region: 'California',
      city: 'Los Angeles',
      isp: 'Verizon Fios',
    });
  });

  test('§4.1.5 §2.2.3 a city outside the region passes validation', async () => {
    const answer = await create({ ...PAGE, proxy: { region: 'Texas', city: 'Los Angeles' } });
    assert.equal(answer.status, 201);
  });

  test('§4.1.4 §2.2.1 a value of one pool is refused for the other', async () => {
    const { items, code, detail } = await refused({ proxy: { proxy_type: 'mobile', isp: 'Comcast' } });
    assert.deepEqual(items, ['body.proxy.isp unsupported_proxy_isp']);
    assert.equal(code, 'scanning.unsupported_proxy_isp');
    assert.deepEqual(detail[0].ctx, {
      given: 'Comcast',
      country_codes: ['US'],
      valid_sample: ['T-Mobile'],
      valid_total: 1,
    });
  });

  test('§2.4.2 the sample of accepted values has at most five, the closest in spelling first', async () => {
    const { detail } = await refused({ proxy: { region: 'Nevadda' } });
    assert.equal(detail[0].ctx.valid_sample[0], 'Nevada');
    assert.equal(detail[0].ctx.valid_sample.length, 5);
    assert.equal(detail[0].ctx.valid_total, 6);
    assert.equal(detail[0].ctx.given, 'Nevadda');
  });

  test('a country without the pool is accepted unless a place in it is requested', async () => {
    assert.equal((await create({ ...PAGE, country_code: 'PT', proxy: { proxy_type: 'mobile' } })).status, 201);
    const { items } = await refused({ country_code: 'PT', proxy: { proxy_type: 'mobile', city: 'Lisboa' } });
    assert.deepEqual(items, ['body.proxy.city unsupported_proxy_city']);
  });

  test('§7.1.1 the error for an unsupported country has the sent value and supported ones', async () => {
    const { items, code, detail } = await refused({ country_code: 'uz' });
    assert.deepEqual(items, ['body.country_code unsupported_country_code']);
    assert.equal(code, 'scanning.unsupported_country_code');
    assert.deepEqual(detail[0].ctx, {
      given: 'uz',
      country_codes: ['UZ'],
      valid_sample: ['US', 'PT'],
      valid_total: 2,
    });
    assert.equal(detail[0].msg, 'No exit serves this country: UZ.');
  });

  test('§7.1.1 a country without a letter gives one error that says so', async () => {
    for (const country_code of ['', '  ']) {
      const { items, code, detail } = await refused({ country_code });
      assert.deepEqual(items, ['body.country_code unsupported_country_code']);
      assert.deepEqual([code, detail[0].msg], ['scanning.unsupported_country_code', 'Must name a country.']);
    }
  });

  test('§7.1.1 §2.1.6 the error for an unknown emulator has the closest ones', async () => {
    const { code, detail } = await refused({ emulator_id: 'windows-chrome' });
    assert.equal(code, 'scanning.unknown_emulator_id');
    assert.equal(detail[0].ctx.valid_sample[0], 'windows_chrome');
    assert.deepEqual(detail[0].ctx.country_codes, ['US']);
  });

  test('§4.2.1 a request must have exactly one of url, ad_tag and vast_tag', async () => {
    assert.deepEqual((await refused({ url: undefined })).items, ['body.url missing']);
    assert.deepEqual((await refused({ url: null })).items, ['body.url missing']);
    assert.deepEqual((await refused({ vast_tag: 'https://ads.example/vast.xml' })).items, [
      'body.vast_tag invalid_combination',
    ]);
    assert.deepEqual((await refused({ url: 5 })).items, ['body.url string_type']);
  });

  for (const [url, type] of [
    ['', 'url_parsing'],
    ['shop.example', 'url_parsing'],
    ['ftp://shop.example/', 'url_scheme'],
    ['javascript:alert(1)', 'url_scheme'],
    ['file:///etc/passwd', 'url_scheme'],
    ['https://user:secret@shop.example/', 'url_credentials'],
    ['http://localhost/', 'url_private_host'],
    ['http://127.0.0.1:8080/', 'url_private_host'],
    ['http://0x7f.1/', 'url_private_host'],
    ['http://[::1]/', 'url_private_host'],
    ['http://[::ffff:10.0.0.1]/', 'url_private_host'],
    ['http://169.254.169.254/latest/meta-data', 'url_private_host'],
    ['http://intranet/', 'url_private_host'],
    ['http://printer.local/', 'url_private_host'],
    ['http://app.localhost/', 'url_private_host'],
    ['http://metadata.google.internal/', 'url_private_host'],
    ['http://168.63.129.16/machine?comp=goalstate', 'url_private_host'],
    ['http://0xa83f8110/', 'url_private_host'],
    // Hosts that the operator denies, and the addresses of the machine itself.
    ['http://198.41.0.4/', 'url_private_host'],
    ['http://3324575748/', 'url_private_host'],
    ['http://[2a02:500::7]/', 'url_private_host'],
    ['http://198.41.9.9:8081/', 'url_private_host'],
    ['http://[2a02:900:0:0::9]/', 'url_private_host'],
    [`http://${'a'.repeat(64)}.example/`, 'url_private_host'],
    [`http://${'a.'.repeat(125)}example/`, 'url_private_host'],
  ] as const) {
    test(`§4.2.15 the URL ${url || "''"} is refused as ${type}, as a page and as a referrer`, async () => {
      assert.deepEqual((await refused({ url })).items, [`body.url ${type}`]);
      assert.deepEqual((await refused({ referrer: url })).items, [`body.referrer ${type}`]);
    });
  }

  test('§4.2.15 a URL without its scheme is refused with a URL as an example', async () => {
    const { detail } = await refused({ url: 'shop.example' });
    assert.equal(detail[0]?.msg, 'Must be an absolute URL, such as https://example.com/.');
  });

  test('§4.2.15 a referrer is returned as normalised, and its length counts after normalisation', async () => {
    const answer = await create({ ...PAGE, referrer: 'HTTPS://News.Example/ä b' });
    assert.equal(answer.body.referrer, 'https://news.example/%C3%A4%20b');
    const longest = `https://news.example/${'a'.repeat(2048 - 'https://news.example/'.length)}`;
    assert.equal((await create({ ...PAGE, referrer: longest })).status, 201);
    assert.deepEqual((await refused({ referrer: `${longest}a` })).items, ['body.referrer url_too_long']);
    assert.deepEqual((await refused({ referrer: `https://news.example/${'ä'.repeat(400)}` })).items, [
      'body.referrer url_too_long',
    ]);
  });

  for (const [field, over, type] of [
    ['ignore_first_n_domains', 6, 'less_than_equal'],
    ['ignore_first_n_domains', -1, 'greater_than_equal'],
    ['retry_max_attempts', 6, 'less_than_equal'],
    ['repeat_count', 21, 'less_than_equal'],
    ['repeat_count', 0, 'greater_than_equal'],
    ['retry_max_attempts', 1.5, 'int_type'],
    ['retry_max_attempts', '2', 'int_type'],
    ['retry_max_attempts', true, 'int_type'],
    ['retry_max_attempts', null, 'int_type'],
  ] as const) {
    test(`§4.2.7 ${field} ${JSON.stringify(over)} gives 422, not a clamp`, async () => {
      const { items, detail } = await refused({ [field]: over });
      assert.deepEqual(items, [`body.${field} ${type}`]);
      assert.deepEqual(detail[0].ctx.given, over);
    });
  }

  test('§8.1 §2.1.10 the ceilings themselves are accepted and echoed', async () => {
    const { body } = await create({ ...PAGE, ignore_first_n_domains: 5, retry_max_attempts: 5, repeat_count: 1 });
    assert.equal(body.ignore_first_n_domains, 5);
    assert.equal(body.retry_max_attempts, 5);
    assert.equal(body.retry_attempt, 0);
  });

  test('§4.2.3 max_discovered_ads needs ad_discovery and lies between 1 and 25', async () => {
    assert.deepEqual((await refused({ max_discovered_ads: 3 })).items, ['body.max_discovered_ads invalid_combination']);
    for (const [max_discovered_ads, type] of [
      [26, 'less_than_equal'],
      [0, 'greater_than_equal'],
      ['5', 'int_type'],
    ])
      assert.deepEqual((await refused({ ad_discovery: true, max_discovered_ads })).items, [
        `body.max_discovered_ads ${type}`,
      ]);
    assert.equal((await create({ ...PAGE, max_discovered_ads: null })).status, 201);
  });

  test('§4.2.4 ad_formats needs ad_discovery, must not be empty, and names known formats once', async () => {
    assert.deepEqual((await refused({ ad_formats: ['pop'] })).items, ['body.ad_formats invalid_combination']);
    assert.deepEqual((await refused({ ad_discovery: true, ad_formats: [] })).items, ['body.ad_formats too_short']);
    const { items } = await refused({ ad_discovery: true, ad_formats: ['pop', 'pop', 'popunder'] });
    assert.deepEqual(items, ['body.ad_formats.2 enum', 'body.ad_formats duplicate_items']);
  });

  test('§4.2.4 more ad_formats than exist are refused by their number', async () => {
    const { items } = await refused({ ad_discovery: true, ad_formats: Array(11).fill('pop') });
    assert.deepEqual(items, ['body.ad_formats too_long']);
  });

  test('§2.4.2 names that are too long are refused and not repeated in the error', async () => {
    const long = 'x'.repeat(100_000);
    for (const change of [{ country_code: long }, { emulator_id: long }, { proxy: { city: long } }]) {
      const { items, detail } = await refused(change);
      assert.match(items.join(), /^body\.[a-z_.]+ string_too_long$/);
      assert.ok(JSON.stringify(detail).length < 1_000);
    }
  });

  test('§2.1.5 an ad tag is a snippet or a URL, and is returned unchanged', async () => {
    for (const ad_tag of ['<script src="https://ads.example/a.js"></script>', 'https://ads.example/preview?id=7']) {
      const { status, body } = await create({ ...PAGE, url: undefined, ad_tag });
      assert.deepEqual([status, body.ad_tag, body.url, body.creative_kind], [201, ad_tag, '', 'banner']);
    }
  });

  test('§4.2.6 shared repeats together with ad_discovery give 422', async () => {
    const { items } = await refused({ ad_discovery: true, repeat_mode: 'shared' });
    assert.deepEqual(items, ['body.repeat_mode invalid_combination']);
  });

  test('§4.2.2 ad_discovery makes the scan of a page a sweep, which is returned with its settings and no ads yet', async () => {
    const { status, body } = await create({ ...PAGE, ad_discovery: true });
    const { ad_discovery, max_discovered_ads, ad_formats, ad_blocks, slot_index, ad_kind, parent_scan_id } = body;
    assert.deepEqual([status, body.status, ad_discovery, max_discovered_ads], [201, 'pending', true, 12]);
    assert.deepEqual([ad_formats, ad_blocks, slot_index, ad_kind, parent_scan_id], [null, [], null, null, null]);
    const chosen = await create({ ...PAGE, ad_discovery: true, max_discovered_ads: 25, ad_formats: ['pop', 'banner'] });
    assert.deepEqual([chosen.body.max_discovered_ads, chosen.body.ad_formats], [25, ['pop', 'banner']]);
    const page = await create({ ...PAGE, ad_discovery: false, max_discovered_ads: null, ad_formats: null });
    assert.deepEqual([page.body.ad_discovery, page.body.max_discovered_ads, page.body.ad_blocks], [false, null, null]);
  });

  test('§4.2.2 only a page can be swept', async () => {
    for (const target of [{ ad_tag: '<b>ad</b>' }, { vast_tag: '<VAST version="4.0"/>' }])
      assert.deepEqual((await refused({ url: undefined, ...target, ad_discovery: true })).items, [
        'body.ad_discovery invalid_combination',
      ]);
  });

  test('§4.2.9 each repeat of a sweep may find its own ads, which the estimate counts', async () => {
    const sweep = { ...PAGE, ad_discovery: true, max_discovered_ads: 25, repeat_count: 2 };
    const { body } = await api.post('/api/v1/scans?dry_run=true', sweep);
    const { min } = body.cost_micros;
    assert.deepEqual([body.scans, body.checks], [2, { min: 2, max: 52 }]);
    assert.deepEqual(body.cost_micros, { min, max: 26 * min });
    const { body: leader } = await create(sweep);
    assert.deepEqual([leader.repeat_total, leader.repeat_session_id, leader.repeat_scan_ids.length], [2, null, 1]);
  });

  test('§2.1.5 an ad tag or a VAST tag that is neither a URL nor markup is refused', async () => {
    assert.deepEqual((await refused({ url: undefined, ad_tag: 'hello' })).items, ['body.ad_tag ad_tag_invalid']);
    assert.deepEqual((await refused({ url: undefined, vast_tag: '<xml/>' })).items, ['body.vast_tag vast_tag_invalid']);
    assert.equal((await create({ ...PAGE, url: undefined, vast_tag: '<VAST version="4.0"/>' })).status, 201);
    assert.deepEqual((await refused({ url: undefined, vast_tag: 'http://10.0.0.1/vast' })).items, [
      'body.vast_tag url_private_host',
    ]);
  });

  test('a campaign that does not exist is not found, and a run needs its campaign', async () => {
    assert.deepEqual((await refused({ campaign_id: 'c1' })).items, ['body.campaign_id not_found']);
    assert.deepEqual((await refused({ campaign_id: 'c1', run_id: 'r1' })).items, ['body.campaign_id not_found']);
    assert.deepEqual((await refused({ run_id: 'r1' })).items, ['body.run_id invalid_combination']);
    assert.equal((await create({ ...PAGE, campaign_id: null, run_id: null })).status, 201);
  });

  test('labels have keys in snake case and values of 1 to 255 characters, at most 20', async () => {
    const labels = { 'Big Deal': 'x', empty: '', long: 'x'.repeat(256), emoji: '😀'.repeat(256), fine: 'x' };
    const { items } = await refused({ labels });
    assert.deepEqual(items, [
      'body.labels.Big Deal string_pattern_mismatch',
      'body.labels.empty string_too_short',
      'body.labels.long string_too_long',
      'body.labels.emoji string_too_long',
    ]);
    assert.deepEqual((await refused({ labels: { number: 5 } })).items, ['body.labels.number string_type']);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`key_${index}`, 'x']));
    assert.deepEqual((await refused({ labels: many })).items, ['body.labels too_long']);
    assert.equal((await create({ ...PAGE, labels: { constructor: 'x', team_1: 'ü'.repeat(255) } })).status, 201);
    assert.equal((await create({ ...PAGE, labels: { emoji: '😀'.repeat(255) } })).status, 201);
  });

  test('§7.2.2 an unknown key is refused by name, on every level', async () => {
    const { items } = await refused({ referer: 'https://news.example/', proxy: { region: 'Texas', zip: '1' } });
    assert.deepEqual(items, ['body.referer unexpected_field', 'body.proxy.zip unexpected_field']);
  });

  test('§2.4.3 all problems are reported together, and nothing is written', async () => {
    const before = await storedScans();
    const answer = await create({
      url: 'http://10.1.2.3/',
      ad_tag: 7,
      country_code: 'XX',
      emulator_id: 'nokia_3310',
      referrer: 'ftp://news.example',
      ignore_first_n_domains: 9,
      retry_max_attempts: 'many',
      max_discovered_ads: 4,
      run_id: 'r',
      labels: { 'NO!': 'x' },
      colour: 'red',
    });
    assert.deepEqual(itemsOf(answer).sort(), [
      'body.ad_tag string_type',
      'body.colour unexpected_field',
      'body.country_code unsupported_country_code',
      'body.emulator_id unknown_emulator_id',
      'body.ignore_first_n_domains less_than_equal',
      'body.labels.NO! string_pattern_mismatch',
      'body.max_discovered_ads invalid_combination',
      'body.referrer url_scheme',
      'body.retry_max_attempts int_type',
      'body.run_id invalid_combination',
      'body.url url_private_host',
    ]);
    assert.equal(answer.body.code, 'scanning.unsupported_country_code');
    assert.equal((await storedScans()).total, before.total);
  });

  test('a missing required field is reported together with other problems', async () => {
    const answer = await create({ url: PAGE.url });
    assert.deepEqual(itemsOf(answer), ['body.country_code missing', 'body.emulator_id missing']);
    assert.equal(answer.body.code, 'validation_error');
  });

  test('what the catalogue lacks gives 503 until that of every provider was read, and other problems give 422', async () => {
    const partly = await runningApi({ catalogue: { ...CATALOGUE, refreshed_at: null } });
    const create = (more: object) => partly.post('/api/v1/scans', { ...PAGE, ...more });
    const answers = [
      await create({}),
      await create({ country_code: 'ZZ' }),
      await create({ proxy: { city: 'Nowhere' } }),
      await create({ country_code: 'ZZ', emulator_id: 'none' }),
    ];
    await partly.stop();
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [201, undefined],
        [503, 'catalogue.not_ready'],
        [503, 'catalogue.not_ready'],
        [422, 'scanning.unknown_emulator_id'],
      ],
    );
  });

  test('before the catalogue was first read, every request gives 503', async () => {
    const unread = await runningApi({ catalogue: null });
    const answer = await unread.post('/api/v1/scans', PAGE);
    await unread.stop();
    assert.equal(answer.status, 503);
    assert.equal(answer.body.code, 'catalogue.not_ready');
    assert.equal(answer.headers.get('retry-after'), '5');
  });
});
