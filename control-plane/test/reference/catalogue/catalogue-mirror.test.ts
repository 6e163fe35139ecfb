import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { openStore } from '../../../src/platform/store.ts';
import { catalogueStore } from '../../../src/reference/catalogue/catalogue-store.ts';
import { catalogueMirror, catalogueReader } from '../../../src/reference/catalogue/mirror-catalogue.ts';
import { startCatalogueServer } from '../../support/catalogue-server.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

const logger = createLogger('control-plane', 'silent');

test('after a restart without the proxy-router the saved catalogue is used, also one with dots in names', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.after(() => store.close());
  const copies = catalogueStore(store);
  const [first, ...rest] = CATALOGUE.pools;
  const changed: Catalogue = {
    ...CATALOGUE,
    pools: [{ ...first!, cities_by_region: { 'St. Gallen': [], $1: [] } }, ...rest],
  };

  const mirror = await catalogueMirror(async () => changed, copies, 60_000, logger).start();
  await until('the first copy', async () => (await copies.load()) !== null);
  await mirror.stop();

  const away = () => Promise.reject(new Error('the proxy-router is away'));
  const restarted = catalogueMirror(away, copies, 60_000, logger);
  const refreshing = await restarted.start();
  assert.deepEqual(restarted.read(), changed);
  await refreshing.stop();
});

test('§2.3.3 an empty catalogue that was never verified is ignored', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.after(() => store.close());
  let asked = 0;
  const unread = async () => {
    asked += 1;
    return { refreshed_at: null, pools: [] };
  };
  const mirror = catalogueMirror(unread, catalogueStore(store), 1, logger);
  const refreshing = await mirror.start();
  await until('two looks', () => asked > 1);
  assert.equal(mirror.read(), null);
  await refreshing.stop();
});

test('the lists of the catalogue are read again only when they change, its times always, and an invalid one is refused', async (t) => {
  const server = await startCatalogueServer('the token');
  t.after(() => server.stop());
  const read = catalogueReader(server.url, 'the token');
  const first = await read();
  assert.deepEqual(first, CATALOGUE);
  assert.equal(await read(), first);

  const verified = '2026-11-29T12:00:00.000Z';
  const later = { refreshed_at: verified, pools: CATALOGUE.pools.map((pool) => ({ ...pool, refreshed_at: verified })) };
  server.serve(later);
  assert.deepEqual(await read(), later);
  assert.equal(server.listsRead(), 1);

  server.serve({ ...CATALOGUE, pools: [] });
  assert.deepEqual((await read()).pools, []);
  assert.equal(server.listsRead(), 2);
  server.serve({ ...CATALOGUE, pools: [{ country_code: 'DE' }] } as unknown as Catalogue);
  await assert.rejects(read(), { message: 'Assert' });
  server.serve(null);
  await assert.rejects(read(), /responded with 503 to GET \/catalogue\/times/);
});

test('lists of a replica that has others than the one that had the times are read again', async (t) => {
  const server = await startCatalogueServer('the token');
  t.after(() => server.stop());
  const read = catalogueReader(server.url, 'the token');
  const others = { ...CATALOGUE, pools: CATALOGUE.pools.slice(1) };
  server.serveLists(others);
  assert.deepEqual(await read(), others);
  assert.deepEqual(await read(), CATALOGUE);
  await read();
  assert.equal(server.listsRead(), 2);
});

test('a copy of which only the times differ is not saved for an hour', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.after(() => store.close());
  const server = await startCatalogueServer('the token');
  t.after(() => server.stop());
  const copies = catalogueStore(store);
  let saves = 0;
  const counted = {
    ...copies,
    save: (...copy: Parameters<typeof copies.save>) => copies.save(...copy).then(() => void saves++),
  };
  t.mock.method(performance, 'now', () => now);
  let now = 0;
  const mirror = catalogueMirror(catalogueReader(server.url, 'the token'), counted, 1, logger);
  const refreshing = await mirror.start();
  const serve = async (catalogue: Catalogue) => {
    server.serve(catalogue);
    await until('the copy', () => isDeepStrictEqual(mirror.read(), catalogue));
  };
  await until('the first copy', () => saves === 1);
  now += 120_000;
  await serve({ ...CATALOGUE, refreshed_at: '2026-11-29T12:00:00.000Z' });
  now += 120_000;
  await serve({ ...CATALOGUE, pools: CATALOGUE.pools.slice(1) });
  await until('the changed lists', () => saves === 2);
  now += 3_700_000;
  await serve({ ...CATALOGUE, pools: CATALOGUE.pools.slice(1), refreshed_at: '2026-11-29T13:00:00.000Z' });
  await until('the times', () => saves === 3);
  await refreshing.stop();
});
