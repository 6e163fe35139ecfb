import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import { GEO_REGIONS, geoOf } from '@adsweep/shared/scan/geos.ts';
import { iso31661 } from 'iso-3166';
import { closest } from '../../../src/reference/catalogue/lookup.ts';
import { itemsOf, type RunningApi, runningApi } from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

describe('reference lists', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { catalogueEveryMs: 5 } });
  });
  beforeEach(async () => {
    await api.serveCatalogue(CATALOGUE);
  });
  after(() => api.stop());

  const targeting = (query: string, headers = {}) => api.get(`/api/v1/proxy/targeting?${query}`, { headers });

  test('§4.5.1 geos are the countries in the catalogue', async () => {
    const { body } = await api.get('/api/v1/geos');
    assert.deepEqual(body, [
      { country_code: 'PT', name: 'Portugal', region: 'Europe', tier: 'tier-2' },
      { country_code: 'US', name: 'United States', region: 'Americas', tier: 'tier-1' },
    ]);
  });

  test('§4.5.1 a country that the provider no longer serves is removed', async () => {
    await api.serveCatalogue({
      ...CATALOGUE,
      pools: CATALOGUE.pools.filter(({ country_code }) => country_code === 'PT'),
    });
    assert.equal((await api.get('/api/v1/geos')).body.length, 1);
  });

  test('every country of ISO 3166-1 has a name, a region and a tier', () => {
    for (const { alpha2 } of iso31661) {
      const geo = geoOf(alpha2);
      assert.ok(geo && geo.name !== alpha2 && GEO_REGIONS.includes(geo.region), alpha2);
    }
    assert.equal(geoOf('us'), null);
  });

  test('§4.5.1 emulators are listed, desktop and mobile', async () => {
    const { body } = await api.get('/api/v1/emulators');
    assert.equal(body.length, EMULATORS.length);
    assert.deepEqual(Object.keys(body[0]), ['id', 'display_name', 'category', 'browser']);
    assert.ok(body.some(({ category }: { category: string }) => category.endsWith('_desktop')));
    assert.ok(body.some(({ category }: { category: string }) => category === 'iphone'));
  });

  test('§4.1 targeting lists are read by country and proxy type in any letter case; residential by default', async () => {
    const { status, body } = await targeting('country_code=us');
    assert.equal(status, 200);
    assert.deepEqual(body, {
      country_code: 'US',
      proxy_type: 'residential',
      regions: CATALOGUE.pools[0]?.regions,
      cities: CATALOGUE.pools[0]?.cities,
      isps: CATALOGUE.pools[0]?.isps,
      refreshed_at: CATALOGUE.refreshed_at,
      ttl_seconds: 86_400,
    });
    assert.deepEqual((await targeting('country_code=US&proxy_type=MOBILE')).body.isps, ['T-Mobile']);
  });

  test('§2.3.2 region limits the cities and no other list', async () => {
    const { body } = await targeting('country_code=US&region=tEXAS');
    assert.deepEqual(body.cities, ['Houston']);
    assert.equal(body.regions.length, 6);
    assert.deepEqual((await targeting('country_code=US&region=Bavaria')).body.cities, []);
  });

  test('§4.1.1 an unsupported or unknown country has empty lists and a timestamp', async () => {
    for (const country of ['DE', 'XX', 'Atlantis', '%F0%9F%8F%B4']) {
      const { status, body } = await targeting(`country_code=${country}`);
      assert.equal(status, 200);
      assert.deepEqual([body.regions, body.cities, body.isps], [[], [], []]);
      assert.equal(body.refreshed_at, CATALOGUE.refreshed_at);
    }
    assert.equal((await targeting('country_code=PT&proxy_type=mobile')).body.cities.length, 0);
  });

  test('§2.3.3 refreshed_at is null before the first catalogue', async () => {
    const unread = await runningApi({ catalogue: null });
    const { status, body, headers } = await unread.get('/api/v1/proxy/targeting?country_code=US');
    assert.equal(status, 200);
    assert.equal(body.refreshed_at, null);
    assert.equal(headers.get('cache-control'), `private, max-age=${body.ttl_seconds}`);
    assert.equal((await unread.get('/api/v1/geos')).status, 503);
    await unread.stop();
  });

  test('§2.3.3 refreshed_at is per country, and null for a country without exits until all providers were read', async () => {
    const [us, ...others] = CATALOGUE.pools;
    const refreshed_at = '2026-02-02T00:00:00.000Z';
    await api.serveCatalogue({ refreshed_at: null, pools: [{ ...us!, refreshed_at }, ...others.slice(1)] });
    const times = async (country: string) => (await targeting(`country_code=${country}`)).body.refreshed_at;
    assert.equal(await times('US'), refreshed_at);
    assert.equal(await times('PT'), CATALOGUE.refreshed_at);
    const { body } = await targeting('country_code=DE');
    assert.deepEqual([body.refreshed_at, body.ttl_seconds], [null, 60]);
  });

  test('§4.1.6 empty lists get another ETag when they are verified for the first time: they mean something else then', async () => {
    const serve = (refreshed_at: string | null) => api.serveCatalogue({ ...CATALOGUE, refreshed_at });
    await serve(null);
    const etag = (await targeting('country_code=DE')).headers.get('etag') ?? '';
    await serve('2026-02-02T00:00:00.000Z');
    const { status, body, headers } = await targeting('country_code=DE', { 'if-none-match': etag });
    assert.deepEqual([status, body.refreshed_at], [200, '2026-02-02T00:00:00.000Z']);
    await serve('2026-02-03T00:00:00.000Z');
    const again = await targeting('country_code=DE', { 'if-none-match': headers.get('etag') ?? '' });
    assert.equal(again.status, 304);
  });

  test('a missing country and an unknown proxy type are refused', async () => {
    assert.deepEqual(itemsOf(await targeting('')), ['query.country_code missing']);
    assert.deepEqual(itemsOf(await targeting('country_code=')), ['query.country_code string_too_short']);
    assert.deepEqual(itemsOf(await targeting('country_code=US&proxy_type=datacenter')), ['query.proxy_type enum']);
  });

  test('§2.3.4 max-age equals ttl_seconds, and a request with the ETag gets 304 while the contents are the same', async () => {
    const first = await targeting('country_code=US');
    const etag = first.headers.get('etag') ?? '';
    assert.equal(first.headers.get('cache-control'), 'private, max-age=86400');
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await targeting('country_code=US', { 'if-none-match': header });
      assert.equal(again.status, 304, header);
      assert.equal(again.headers.get('etag'), header.startsWith('W/') ? header : etag);
      assert.equal(again.text, '');
    }
    assert.equal((await targeting('country_code=US', { 'if-none-match': '"other"' })).status, 200);
  });

  test('§4.1.6 verifying unchanged lists changes refreshed_at and not the ETag; a change of the contents changes the ETag', async () => {
    const etag = async () => (await targeting('country_code=US')).headers.get('etag');
    const before = await etag();
    const refreshed_at = '2026-02-02T00:00:00.000Z';
    await api.serveCatalogue({ refreshed_at, pools: CATALOGUE.pools.map((pool) => ({ ...pool, refreshed_at })) });
    assert.equal(await etag(), before);
    assert.equal((await targeting('country_code=US')).body.refreshed_at, '2026-02-02T00:00:00.000Z');
    const [first, ...rest] = CATALOGUE.pools;
    assert.ok(first);
    await api.serveCatalogue({ ...CATALOGUE, pools: [{ ...first, isps: ['Comcast'] }, ...rest] });
    assert.notEqual(await etag(), before);
    const mobile = (await targeting('country_code=US&proxy_type=mobile')).headers.get('etag');
    assert.notEqual(mobile, before);
  });

  test('the closest values are those with the fewest letters to insert, delete or replace; of equal ones the first in the list', () => {
    assert.deepEqual(closest(['Texas', 'Nevada', 'Utah'], 'UTHA'), ['Utah', 'Texas', 'Nevada']);
    assert.deepEqual(closest(['d', 'bcd', 'xy', 'b', 'abc', 'ab', 'c'], 'AB'), ['ab', 'b', 'abc', 'd', 'xy']);
    assert.equal(closest(['a'], 'x'.repeat(1_000_000)).length, 1);
  });
});
