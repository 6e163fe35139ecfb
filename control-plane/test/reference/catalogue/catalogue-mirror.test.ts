import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { openStore } from '../../../src/platform/store.ts';
import { catalogueStore } from '../../../src/reference/catalogue/catalogue-store.ts';
import { catalogueMirror, catalogueReader } from '../../../src/reference/catalogue/mirror-catalogue.ts';
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

test('an unchanged catalogue is not parsed again, a changed one is, and an invalid one is refused', async (t) => {
  let answer: unknown = CATALOGUE;
  const server = createServer((_, response) => response.end(JSON.stringify(answer))).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const read = catalogueReader(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'the token');
  const first = await read();
  assert.deepEqual(first, CATALOGUE);
  assert.equal(await read(), first);
  answer = { ...CATALOGUE, pools: [] };
  assert.deepEqual((await read()).pools, []);
  answer = { pools: 'none' };
  await assert.rejects(read());
});
