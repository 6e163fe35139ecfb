import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import sharp from 'sharp';
import { fieldsOfScan, scanBody } from '../../src/console/pages/scans/scan-form.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { childScanId, newChildScan } from '../../src/scanning/scans/request/new-child-scan.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { raiseAlert } from '../support/alert-doubles.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { fieldsIn } from '../support/form-fields.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { type Json, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { captureOf } from '../support/running-farm.ts';
import { CATALOGUE } from '../support/sample-catalogue.ts';
import { sampleAds } from '../support/sample-sweep.ts';
import { sampleVast } from '../support/sample-vast.ts';
import { storeCapture } from '../support/store-capture.ts';

describe('a page of the console about scans', () => {
  let api: RunningApi;
  let browser: ReturnType<typeof consoleBrowser>;
  let cookie: string;
  before(async () => {
    api = await runningApi();
    browser = consoleBrowser(api);
    cookie = await browser.signIn();
  });
  after(() => api.stop());

  const made = async (path: string, body: unknown): Promise<Json> => {
    const answer = await api.post(`/api/v1/${path}`, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const campaignOf = (): Promise<Json> =>
    made('campaigns', {
      name: 'Spring',
      url: PAGE.url,
      country_codes: ['US'],
      emulator_specific_ids: ['windows_chrome'],
    });

  test('of a new scan has the campaign of the scan that it repeats, also if that is archived', async () => {
    const campaign = await campaignOf();
    const scan = await made('scans', { ...PAGE, campaign_id: campaign.id });
    await api.post(`/api/v1/campaigns/${campaign.id}/archive`);
    const { campaign_id } = fieldsIn((await browser.get(`/scans/new?from=${scan.id}`, cookie)).text);
    assert.equal(campaign_id, campaign.id);
  });

  test('of a new scan has all settings of the scan that it repeats', async () => {
    const settings = {
      ...PAGE,
      ad_discovery: true,
      ad_formats: ['video', 'pop'],
      ignore_first_n_domains: 2,
      max_discovered_ads: 3,
    };
    const scan = await made('scans', settings);
    assert.deepEqual(scanBody(fieldsOfScan(scan)), settings);
    const { text } = await browser.get(`/scans/new?from=${scan.id}`, cookie);
    assert.equal(fieldsIn(text).ignore_first_n_domains, '2');
    assert.match(text, /name="ad_formats" value="video" checked/);
    assert.doesNotMatch(text, /name="ad_formats" value="banner" checked/);
  });

  test('of a scan lists its alerts, however many newer ones its campaign has', async () => {
    const campaign = await campaignOf();
    const scan = await made('scans', { ...PAGE, campaign_id: campaign.id });
    await raiseAlert(api, campaign.id, {}, { tag_display_name: 'The oldest' }, { scanId: scan.id });
    for (let at = 0; at < 101; at++) await raiseAlert(api, campaign.id);
    const { text } = await browser.get(`/scans/${scan.id}`, cookie);
    assert.match(text, /Alerts of this scan[\s\S]*The oldest/);
    assert.match(text, new RegExp(`href="/console/alerts\\?scan_id=${scan.id}&amp;tag=[^"]*&amp;status=open"`));
    assert.equal(text.match(/<h1/g)?.length, 1);
  });

  test('of a video ad tag shows its companions', async () => {
    const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
    const { country_code: country, emulator_id } = PAGE;
    const sent = { vast_tag: 'https://exchange.example/tag', country_code: country, emulator_id };
    const scan = newScan(sent, { id: newId(), country }, CATALOGUE, options, new Date());
    const picture = sharp({ create: { width: 30, height: 25, channels: 3, background: 'red' } }).jpeg();
    const files = [{ name: 'companion-2.jpeg', bytes: await picture.toBuffer() }];
    const capture = await storeCapture(api, scan._id, captureOf([], { landings: [], vast: sampleVast() }), files);
    await api.scans.insertUnlessExists({ ...scan, capture, status: 'completed', completed_at: new Date() });
    const { text } = await browser.get(`/scans/${scan._id}`, cookie);
    const [, src = ''] = /id="companions"[\s\S]*?<img src="([^"]+)"/.exec(text) ?? [];
    assert.equal(src, `${scan._id}/companions/2/screenshot?w=800`);
    const shown = await browser.get(`/scans/${src}`, cookie);
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'image/webp']);
  });

  test('of a scan that failed says what to do, and where more about it is', async () => {
    const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
    const at = new Date();
    const scan = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, at);
    const failed = { status: 'failed', error: 'proxy: UPSTREAM_FAILED', completed_at: at } as const;
    await api.scans.insertUnlessExists({ ...scan, ...failed });
    const { text } = await browser.get(`/scans/${scan._id}`, cookie);
    const href = /<dt>What to do<\/dt><dd>Scan it again[\s\S]*?<a href="([^"]+)"/.exec(text)?.[1] ?? '';
    const { pathname, hash } = new URL(href, 'https://adsweep.example');
    assert.match((await api.get(pathname, { key: null })).text, new RegExp(`<h3 id="${hash.slice(1)}">`));
  });

  test('of a sweep says why the scan of an ad failed, as its public report does', async () => {
    const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
    const at = new Date();
    const request = { ...PAGE, ad_discovery: true };
    const sweep = newScan(request, { id: newId(), country: 'US' }, CATALOGUE, options, at);
    const [block] = sampleAds(1);
    const { not_scanned: _, ...ad_block } = block!;
    const capture = await storeCapture(api, sweep._id, captureOf([], { ad_blocks: [block!] }), []);
    await api.scans.insertUnlessExists({ ...sweep, status: 'completed', capture, completed_at: at } as ScanRecord);
    const child = newChildScan(sweep, ad_block, { fence: 1, node_id: 'node', leased_at: at }, at);
    const failed = { status: 'failed', error: 'navigation: DNS', completed_at: at } as const;
    await api.scans.insertUnlessExists({ ...child, _id: childScanId(sweep._id, ad_block), ad_block, ...failed });
    const { text } = await browser.get(`/scans/${sweep._id}`, cookie);
    assert.match(text, /class="state">The host name of the target could not be resolved/);
  });

  test('of the list shows its call with numbers as numbers, as the client takes them', async () => {
    const { text } = await browser.get('/scans?country_code=US&page=1', cookie);
    assert.ok(text.includes('await api.listScans({ country_code: &#39;US&#39;, page: 1, limit: 50 });'));
  });

  test('of a comparison keeps the ids that were typed, and says which of them is no scan', async () => {
    const { id } = await made('scans', PAGE);
    const { status, text } = await browser.get(`/scans/compare?a=${id}&b=wrong`, cookie);
    assert.equal(status, 404);
    assert.deepEqual([fieldsIn(text).a, fieldsIn(text).b], [id, 'wrong']);
    assert.match(text, /id="b-problem">There is no such scan/);
    assert.doesNotMatch(text, /id="a-problem"/);
  });

  test('of a list whose filters are refused does not say that there are none', async () => {
    for (const path of ['/scans?page=0', '/scans?date_from=never', '/alerts?page=0', '/alerts?status=none']) {
      const { text } = await browser.get(path, cookie);
      assert.match(text, /role="alert"[\s\S]*The list was not read/, path);
      assert.doesNotMatch(text, /No scans yet|No scan matches|Nothing is open|No alert matches/, path);
    }
  });
});
