import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import sharp from 'sharp';
import { compareRuns } from '../../../src/analysis/changes/compare-runs.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { checkCrawled, slugsOf } from '../../support/checked-scans.ts';
import { itemsOf, KEYS, ORGANIZATIONS, runningApi } from '../../support/running-api.ts';
import { captureOf, named, type RunningFarm, runningFarm } from '../../support/running-farm.ts';
import { sampleScan } from '../../support/sample-scan.ts';

const drawn = (shapes: string): Promise<Buffer> =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="400" height="600">${shapes}</svg>`))
    .jpeg()
    .toBuffer();
const SHOP =
  '<rect width="400" height="600" fill="#fff"/><rect width="200" height="300" fill="#222"/><rect x="200" y="300" width="200" height="300" fill="#999"/>';
const CASINO =
  '<rect width="400" height="600" fill="#000"/><circle cx="200" cy="300" r="150" fill="#fd0"/><rect y="500" width="400" height="60" fill="#fff"/>';
const HOUR_MS = 3_600_000;

describe('§2.5.16 the runs of a campaign', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  afterEach(() => farm.forgetScans());
  after(() => farm.stop());

  const organization_id = 'organization-of-runs';
  let hours = 0;
  type Shown = { chain?: string[]; picture?: string; changes?: Partial<ScanRecord> };

  /** A checked scan of a run, created after all others. */
  async function scanned(
    run_id: string,
    { chain = ['https://shop.example/'], picture = SHOP, changes = {} }: Shown = {},
  ) {
    const created_at = new Date(Date.UTC(2026, 0, 1) + ++hours * HOUR_MS);
    const scan = await farm.submit({ organization_id, campaign_id: 'campaign', run_id, created_at, ...changes });
    const lease = await farm.acquireOne();
    const jpeg = await drawn(picture);
    await farm.node.upload(lease, 'landing-0.jpeg', 'image/jpeg', jpeg);
    const { landings } = captureOf(chain);
    const artifacts = [named('landing-0.jpeg', jpeg, 'image/jpeg')];
    const shown = landings.map((landing) => ({ ...landing, screenshot: 'landing-0.jpeg' }));
    await farm.node.complete(lease, captureOf(chain, { landings: shown, artifacts }));
    await checkCrawled(farm);
    return farm.read(scan._id);
  }
  const recheck = async ({ _id }: ScanRecord) => {
    const set = { status: 'rechecking' as const, tags: [], checks_attempts: 0 };
    await farm.store.collection<ScanRecord>('scans').updateOne({ _id }, { $set: set });
    await checkCrawled(farm);
    return farm.read(_id);
  };

  it('are compared by country and device, and what differs from the last run is tagged and listed', async () => {
    const first = await scanned('one');
    assert.deepEqual([first.status, slugsOf(first), first.changes], ['completed', [], []]);
    assert.match(first.look?.landing?.picture ?? '', /^[0-9a-f]{16}$/);
    assert.deepEqual(slugsOf(await scanned('two')), []);
    const elsewhere = await scanned('three', { picture: CASINO, changes: { country_code: 'PT' } });
    assert.deepEqual(slugsOf(elsewhere), [], 'no run before showed it there');
    const changed = await scanned('three', {
      picture: CASINO,
      chain: ['https://t.example/', 'https://casino.example/'],
    });
    assert.deepEqual(slugsOf(changed), ['landing_changed']);
    assert.partialDeepStrictEqual(changed.changes, [
      {
        kind: 'landing',
        what: ['domain', 'redirects', 'picture'],
        previous_run_id: 'two',
        after: 'https://casino.example/',
      },
    ]);
    const back = await scanned('four');
    assert.deepEqual([slugsOf(back), back.changes?.[0]?.previous_scan_id], [['landing_changed'], changed._id]);
    const { rows, total } = await farm.scans.changedIn(organization_id, 'campaign', { skip: 0, limit: 1 });
    assert.deepEqual([rows.map(({ _id }) => _id), total], [[back._id], 2]);
    assert.equal((await farm.scans.changedIn('other', 'campaign', { skip: 0, limit: 1 })).total, 0);
  });

  it('are compared with scans of the same target alone: a campaign gets another one, and scans that are posted have many', async () => {
    const of = (path: string) => ({ target: { kind: 'url' as const, value: `https://shop.example/${path}` } });
    await scanned('one', { changes: of('a') });
    const other = await scanned('two', { picture: CASINO, changes: of('b') });
    assert.deepEqual([slugsOf(other), other.changes], [[], []]);
    const changed = await scanned('three', { picture: CASINO, changes: of('a') });
    assert.deepEqual([slugsOf(changed), changed.changes?.[0]?.previous_run_id], [['landing_changed'], 'one']);
  });

  it('have a target that is known by its text, which each run stores anew', async () => {
    const texts: Record<string, string> = { one: '<b>ad</b>', two: '<b>ad</b>', three: '<b>another</b>' };
    const compare = compareRuns({
      earlierLooks: async () => [],
      withTarget: async ({ _id }) => ({ target: { kind: 'ad_tag', value: texts[_id]! } }),
      screenshotFor: async () => null,
    });
    const targetOf = async (_id: string) => {
      const scan = sampleScan({ _id, campaign_id: 'campaign', run_id: _id, target: { kind: 'ad_tag', value: '' } });
      return (await compare(scan, null))?.look.target;
    };
    assert.equal(await targetOf('one'), await targetOf('two'));
    assert.notEqual(await targetOf('one'), await targetOf('three'));
  });

  it('are compared with all repeats of the last run; failed scans, ads of sweeps and other organizations do not count', async () => {
    await scanned('one');
    await scanned('one', { picture: CASINO });
    await scanned('two', { picture: CASINO, changes: { organization_id: 'another' } });
    const failed = await farm.submit({ organization_id, campaign_id: 'campaign', run_id: 'two' });
    const lease = await farm.acquireOne();
    assert.equal(lease.scan_id, failed._id);
    await farm.node.fail(lease, { code: 'navigation: DNS', cause: 'gone', capture: null });
    const ad = await scanned('two', { picture: CASINO, changes: { parent_scan_id: 'sweep' } });
    assert.equal(ad.look, undefined);
    assert.deepEqual(slugsOf(await scanned('three', { picture: CASINO })), [], 'one of the repeats showed it');
    assert.equal((await farm.scans.changedIn(organization_id, 'campaign', { skip: 0, limit: 9 })).total, 0);
  });

  it('are compared with the last run also by a scan that many others of its own run came before, as on a day of posted scans', async () => {
    const yesterday = await scanned('yesterday');
    const first = await scanned('today');
    const { filter_keys } = first as ScanRecord & { filter_keys: string[] };
    const posted = Array.from({ length: 450 }, () => ({
      ...{ ...first, _id: newId(), filter_keys, report_token: newId(), outbox: [] },
      created_at: new Date(Date.UTC(2026, 0, 1) + ++hours * HOUR_MS),
    }));
    await farm.store.collection<ScanRecord>('scans').insertMany(posted);
    const changed = await scanned('today', { picture: CASINO });
    assert.deepEqual([slugsOf(changed), changed.changes?.[0]?.previous_scan_id], [['landing_changed'], yesterday._id]);
  });

  it('are compared again by a recheck with what was seen first, also if the pictures are gone', async () => {
    await scanned('one');
    const changed = await scanned('two', { picture: CASINO });
    const artifacts = farm.store.collection('artifacts');
    await artifacts.deleteMany({});
    const again = await recheck(changed);
    assert.deepEqual([again.status, slugsOf(again)], ['completed', ['landing_changed']]);
    assert.deepEqual([again.look, again.changes], [changed.look, changed.changes]);
    assert.equal((await farm.scans.changedIn(organization_id, 'campaign', { skip: 0, limit: 9 })).total, 1);
  });
});

it('§2.5.16 the changes of a campaign are listed to its organization alone', async () => {
  const api = await runningApi();
  const created = await api.post('/api/v1/campaigns', {
    name: 'C',
    url: 'https://shop.example/',
    country_codes: ['US'],
  });
  const change = {
    ...{ kind: 'landing' as const, what: ['picture' as const], previous_scan_id: 'before', previous_run_id: 'one' },
    ...{ before: 'https://a.example/', after: 'https://b.example/' },
  };
  const ours = { organization_id: ORGANIZATIONS.ours, campaign_id: created.body.id, run_id: 'two', outbox: [] };
  for (const changes of [[change], []])
    await api.scans.insertUnlessExists(sampleScan({ _id: newId(), ...ours, changes }));
  const path = `/api/v1/campaigns/${created.body.id}/changes`;
  const { body } = await api.get(path);
  assert.deepEqual([body.total, body.items[0].run_id, body.items[0].changes], [1, 'two', [change]]);
  assert.equal((await api.get(path, { key: KEYS.theirs })).status, 404);
  assert.deepEqual(itemsOf(await api.get(`${path}?limit=201`)), ['query.limit less_than_equal']);
  await api.stop();
});
