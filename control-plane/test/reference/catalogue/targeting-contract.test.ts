import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PROXY_TYPES } from '@adsweep/shared/targeting/catalogue.ts';
import { spelled } from '../../../src/reference/catalogue/lookup.ts';
import { itemsOf, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

describe('targeting through the API', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const targeting = async (country: string, proxyType: string) =>
    (await api.get(`/api/v1/proxy/targeting?country_code=${country}&proxy_type=${proxyType}`)).body;
  const check = (country_code: string, proxy: object) =>
    api.post('/api/v1/scans?dry_run=true', { ...PAGE, country_code, proxy });

  test('§4.1.2 a scan accepts every listed value in any letter case', async () => {
    for (const country of ['US', 'PT'])
      for (const proxy_type of PROXY_TYPES) {
        const lists = await targeting(country, proxy_type);
        for (const [field, values] of [
          ['region', lists.regions],
          ['city', lists.cities],
          ['isp', lists.isps],
        ] as const)
          for (const value of values as string[])
            for (const spelled of [value, value.toUpperCase(), value.toLowerCase()]) {
              const answer = await check(country, { proxy_type, [field]: spelled });
              assert.equal(answer.status, 200, `${country} ${proxy_type} ${field} ${spelled}: ${answer.text}`);
            }
      }
  });

  test('§4.1.2 letters whose upper or lower case is that of others, or longer, are compared in any letter case', () => {
    const values = ['Gießen', 'İstanbul', 'Iğdır', 'Πάτρας', 'São Paulo'];
    for (const value of values)
      for (const sent of [value, value.toUpperCase(), value.toLowerCase(), value.normalize('NFD')])
        assert.equal(spelled(values, sent), value, sent);
    for (const sent of ['ISTANBUL', 'istanbul']) assert.equal(spelled(values, sent), 'İstanbul', sent);
    assert.equal(spelled(values, 'Giesen'), null);
  });

  test('§7.1.1 the error for an unknown region, city or ISP contains the given value and valid ones', async () => {
    const lists = await targeting('US', 'residential');
    for (const [field, values] of [
      ['region', lists.regions],
      ['city', lists.cities],
      ['isp', lists.isps],
    ] as const) {
      const answer = await check('us', { proxy_type: 'residential', [field]: 'Atlantis' });
      const type = `unsupported_proxy_${field}`;
      assert.deepEqual([answer.status, answer.body.code], [422, `scanning.${type}`]);
      assert.deepEqual(itemsOf(answer), [`body.proxy.${field} ${type}`]);
      const { given, country_codes, valid_sample, valid_total } = answer.body.detail[0].ctx;
      assert.deepEqual([given, country_codes, valid_total], ['Atlantis', ['US'], values.length]);
      assert.ok(valid_sample.length <= 5 && valid_sample.every((value: string) => values.includes(value)));
    }
  });

  test('§7.1.1 several unknown values are all reported, with the code of the first', async () => {
    const answer = await check('US', { region: 'Atlantis', city: 'Atlantis', isp: 'Atlantis' });
    assert.equal(answer.body.code, 'scanning.unsupported_proxy_region');
    assert.deepEqual(
      itemsOf(answer).map((item) => item.split(' ')[0]),
      ['body.proxy.region', 'body.proxy.city', 'body.proxy.isp'],
    );
  });

  test('§4.1.4 a country without a pool of the proxy type has empty lists, and accepts a scan without region and city', async () => {
    const { regions, cities, isps } = await targeting('PT', 'mobile');
    assert.deepEqual([regions, cities, isps], [[], [], []]);
    assert.equal((await check('PT', { proxy_type: 'mobile' })).status, 200);
    assert.equal((await check('PT', { proxy_type: 'mobile', city: 'Lisboa' })).status, 422);
  });
});
