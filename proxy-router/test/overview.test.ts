import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../shared/test/support/until.ts';
import { request } from './support/proxy-client.ts';
import { exitIn, NODE_TOKEN, startTestRouter, temporaryFolder, vendorConfig } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startTarget } from './support/target.ts';

test('the operator sees exits by state, picks by outcome, the catalogue’s age, bytes and cost by pool, failures', async (t) => {
  const target = await startTarget(t, (_, response) => response.end('x'.repeat(100_000)));
  const vendor = await startVendor(t);
  vendor.hosts['shop.example'] = target.address;
  const catalogue = join(temporaryFolder(), 'places.json');
  writeFileSync(catalogue, JSON.stringify({ places: [{ country_code: 'US', proxy_type: 'mobile', pool_size: 5 }] }));
  const upstream = `http://cust-42-cc-us:wrong@${vendor.address}`;
  const router = await startTestRouter(t, {
    exits: [exitIn('US', { id: 'refused', provider: 'list', upstream }), exitIn('DE')],
    providers: [vendorConfig({ endpoint: `http://${vendor.address}`, catalogue, price_per_gb: 1_000 })],
  });
  const mobile = { country_code: 'US', proxy_type: 'mobile', region: '', city: '', isp: '' } as const;
  await request(await router.ticket({ targeting: mobile }), 'http://shop.example/');
  await request(await router.ticket(), 'http://shop.example/');
  await assert.rejects(router.ticket(), /ACCOUNT_REFUSED/);

  const read = async (path: string) =>
    fetch(`http://127.0.0.1:${router.ports.api}${path}`, { headers: { authorization: `Bearer ${NODE_TOKEN}` } });
  type Overview = { picks: Record<string, number>; providers: Record<string, unknown>[] };
  const overview = async () => (await (await read('/overview')).json()) as Overview;
  const { picks, providers } = await until('the bytes', async () => {
    const now = await overview();
    return JSON.stringify(now).includes('bytes_received') && now;
  });
  assert.deepEqual(picks, {
    issued: 2,
    NODE_NOT_FOUND: 0,
    NODE_BUSY: 0,
    ACCOUNT_REFUSED: 1,
    LEASE_REQUIRED: 0,
    LEASE_SPENT: 0,
  });
  const by = Object.fromEntries(providers.map(({ provider, ...rest }) => [provider, rest])) as Record<string, never>;
  assert.deepEqual(Object.keys(by), ['list', 'direct', 'vendor']);
  const { list, vendor: own } = by as Record<
    string,
    { exits: object; failures: object; catalogue: never; pools: never }
  >;
  assert.deepEqual([list?.exits, list?.failures], [{ account_refused: 1 }, { account_refused: 1 }]);
  const { places, age_seconds } = own!.catalogue as { places: number; age_seconds: number };
  assert.deepEqual([own!.exits, own!.failures, places, age_seconds < 60], [{ available: 1 }, {}, 1, true]);
  const pool = (own!.pools as Record<string, Record<string, number>>).mobile!;
  assert.ok(pool.bytes_received! > 100_000);
  assert.ok(Math.abs(pool.cost! - ((pool.bytes_received! + pool.bytes_sent!) * 1_000) / 1e9) < 1e-9);

  const metrics = await (await read('/metrics')).text();
  assert.match(metrics, /adsweep_exits\{provider="list",state="account_refused",service="proxy-router"\} 1/);
  assert.match(metrics, /adsweep_provider_failures_total\{provider="list",outcome="account_refused"/);
  assert.match(metrics, /adsweep_provider_catalogue_refreshed_timestamp_seconds\{provider="vendor".*\} 1\d+/);
  assert.equal((await fetch(`http://127.0.0.1:${router.ports.api}/overview`)).status, 401);
});

test('the operator sees which values of a catalogue the vendor is not told', async (t) => {
  const catalogue = join(temporaryFolder(), 'places.json');
  const place = { country_code: 'US', proxy_type: 'residential', pool_size: 5 };
  const places = [
    { ...place, region: 'Texas', city: 'Austin', isp: 'Acme' },
    { ...place, region: 'Texas', city: 'Waco', isp: 'Other' },
  ];
  writeFileSync(catalogue, JSON.stringify({ places }));
  const router = await startTestRouter(t, {
    exits: [exitIn('US')],
    providers: [vendorConfig({ catalogue }), vendorConfig({ id: 'city', catalogue, username: 'c-{country}' })],
  });
  const headers = { authorization: `Bearer ${NODE_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${router.ports.api}/overview`, { headers });
  const { providers } = (await answer.json()) as {
    providers: { provider: string; catalogue: { fields_not_sent: string[] } }[];
  };
  assert.deepEqual(
    providers.map(({ provider, catalogue }) => [provider, catalogue.fields_not_sent]),
    [
      ['direct', []],
      ['vendor', ['isp']],
      ['city', ['city', 'isp']],
    ],
  );
});

test('a router without any exit is not ready, and says what is missing', async (t) => {
  const router = await startTestRouter(t, {
    exits: [],
    providers: [vendorConfig({ catalogue: 'http://127.0.0.1:9/' })],
  });
  const answer = await fetch(`http://127.0.0.1:${router.ports.api}/readyz`);
  const { missing } = (await answer.json()) as { missing: string[] };
  assert.deepEqual([answer.status, missing.length], [503, 1]);
  assert.match(missing[0]!, /no exit is listed/);
});
