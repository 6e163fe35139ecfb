import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import type { CaptureSummary, ScanRecord } from '../../src/scan/scan.ts';
import type { RunRecord } from '../../src/scanning/runs/run.ts';
import { childScanId, newChildScan } from '../../src/scanning/scans/request/new-child-scan.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { consoleBrowser } from '../support/console-browser.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { CATALOGUE } from '../support/sample-catalogue.ts';
import { sampleAds } from '../support/sample-sweep.ts';

const SEEN: CaptureSummary = {
  id: 'capture',
  offer_url: 'https://shop.example/',
  page_title: 'Shop',
  has_screenshot: true,
  crawl_ms: 1,
  landings: 1,
};
const DONE = { status: 'completed', capture: SEEN, completed_at: new Date() } as const;

describe('two runs that are compared in the console', () => {
  let api: RunningApi;
  let browser: ReturnType<typeof consoleBrowser>;
  let cookie: string;
  let campaignId: string;
  before(async () => {
    api = await runningApi();
    browser = consoleBrowser(api);
    cookie = await browser.signIn();
    const campaign = {
      name: 'Spring',
      url: PAGE.url,
      country_codes: ['US'],
      emulator_specific_ids: ['windows_chrome'],
    };
    campaignId = (await api.post('/api/v1/campaigns', campaign)).body.id;
  });
  after(() => api.stop());

  const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
  const insertRun = async (_id: string) => {
    const run = { _id, organization_id: ORGANIZATIONS.ours, campaign_id: campaignId, label: _id, cancelled_at: null };
    await api.store.collection<RunRecord>('runs').insertOne({ ...run, trigger: 'manual', created_at: new Date() });
  };
  const insertScan = async (run_id: string, at: Date, country_code: string, request: object = PAGE) => {
    const scan = newScan({ ...PAGE, ...request }, { id: newId(), country: 'US' }, CATALOGUE, options, at);
    const ended: ScanRecord = { ...scan, ...DONE, campaign_id: campaignId, run_id, country_code };
    await api.scans.insertUnlessExists(ended);
    return ended;
  };
  const pairsOn = async (path: string) => {
    const { text } = await browser.get(path, cookie);
    const hrefs = [
      ...text.matchAll(
        /<figcaption><a href="\/console\/scans\/([^"]+)">before<\/a> · <a href="\/console\/scans\/([^"]+)"/g,
      ),
    ];
    return { text, pairs: hrefs.map(([, earlier, later]) => [earlier, later]) };
  };

  test('show each scan beside that of its country and device, however many there are', async () => {
    const countries = Array.from({ length: 130 }, (_, at) =>
      String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26)),
    );
    await Promise.all([insertRun('many-before'), insertRun('many-after')]);
    const partners = new Map<string, string>();
    for (const [at, country] of countries.entries()) {
      const { _id: earlier } = await insertScan('many-before', new Date(1_000 * (at + 1)), country);
      const { _id: later } = await insertScan('many-after', new Date(1_000_000 - 1_000 * at), country);
      partners.set(later, earlier);
    }
    const [first, second] = [
      await pairsOn('/runs/many-after/compare/many-before'),
      await pairsOn('/runs/many-after/compare/many-before?page=2'),
    ];
    assert.match(first.text, /rel="next" href="\/console\/runs\/many-after\/compare\/many-before\?page=2"/);
    assert.deepEqual([first.pairs.length, second.pairs.length], [100, 30]);
    for (const [earlier, later] of [...first.pairs, ...second.pairs]) assert.equal(partners.get(later!), earlier);
  });

  test('show the pages of sweeps beside each other, and no ad beside another one', async () => {
    const sweeps: string[] = [];
    for (const run of ['swept-before', 'swept-after']) {
      await insertRun(run);
      const sweep = await insertScan(run, new Date(), 'US', { ad_discovery: true });
      sweeps.push(sweep._id);
      for (const { not_scanned: _, ...ad_block } of sampleAds(2)) {
        const child = newChildScan(sweep, ad_block, { fence: 1, node_id: 'node', leased_at: new Date() }, new Date());
        await api.scans.insertUnlessExists({ ...child, ...DONE, _id: childScanId(sweep._id, ad_block), ad_block });
      }
    }
    assert.deepEqual((await pairsOn('/runs/swept-after/compare/swept-before')).pairs, [sweeps]);
  });

  test('show all of their scans, repeats too, page by page, and never an ad of a sweep', async () => {
    const insertRepeat = async (run_id: string, index: number, change: Partial<ScanRecord> = {}) => {
      const scan = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, new Date(1_000 + index));
      const repeat = { leader_id: 'leader', index: Math.max(0, index), total: 130, session_id: null };
      await api.scans.insertUnlessExists({ ...scan, ...DONE, campaign_id: campaignId, run_id, repeat, ...change });
      return scan._id;
    };
    const ids: string[] = [];
    for (const run of ['repeated-before', 'repeated-after']) {
      await insertRun(run);
      for (let index = 0; index < 130; index++) ids.push(await insertRepeat(run, index));
    }
    // Older than the scan in its place.
    const { not_scanned: _, ...ad_block } = sampleAds(1)[0]!;
    const ad = await insertRepeat('repeated-before', -1, { parent_scan_id: ids[0]!, ad_block });
    const shown = new Set<string>();
    for (const page of [1, 2]) {
      const { pairs } = await pairsOn(`/runs/repeated-after/compare/repeated-before?page=${page}`);
      for (const id of pairs.flat()) shown.add(id!);
    }
    assert.deepEqual(
      ids.filter((id) => !shown.has(id)),
      [],
    );
    assert.ok(!shown.has(ad));
  });
});
