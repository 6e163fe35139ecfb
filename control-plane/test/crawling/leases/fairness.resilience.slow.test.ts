import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { addOrganization } from '../../../src/accounts/add-organization.ts';
import { keyStore } from '../../../src/accounts/keys/key-store.ts';
import { organizationStore } from '../../../src/accounts/organizations/organization-store.ts';
import { startControlPlane } from '../../../src/compose/start-control-plane.ts';
import { readConfig } from '../../../src/config.ts';
import { bringUpToDate } from '../../../src/platform/migrations/bring-up-to-date.ts';
import { openStore } from '../../../src/platform/store.ts';
import { filterKeysOf } from '../../../src/scan/filter-keys.ts';
import type { StoredScan } from '../../../src/scan/stored-scan.ts';
import { newScan } from '../../../src/scanning/scans/request/new-scan.ts';
import { startCatalogueServer } from '../../support/catalogue-server.ts';
import { planeSettings } from '../../support/plane-settings.ts';
import { startRedis } from '../../support/private-redis.ts';
import { type Json, PAGE } from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';
import { type LeaseOfFirst, SimulatedNode } from '../../support/simulated-node.ts';

const NODE_TOKEN = 'node-token-of-this-test';
const KEYS = { operator: 'operators-key-of-this-test', many: 'key-of-many-scans', single: 'key-of-a-single-scan' };
const MANY = 10_000;
const CAP = 30;
const LOGGER = createLogger('test', 'silent');

/** A store with two organizations, one of which has 10,000 charged bulk scans waiting. */
async function fillStore(folder: string): Promise<void> {
  const store = await openStore({ path: join(folder, 'store.db') });
  await bringUpToDate(store, LOGGER);
  const accounts = { organizations: organizationStore(store), keys: keyStore(store) };
  const now = new Date();
  for (const name of ['many', 'single'] as const) await addOrganization(accounts, { _id: name, name }, KEYS[name], now);
  const { country_code: country, ...settings } = PAGE;
  const order = { organizationId: 'many', priceMicros: 10_000 };
  const scans = Array.from({ length: MANY }, (): StoredScan => {
    const id = newId();
    const scan = { ...newScan(settings, { id, country }, CATALOGUE, order, now), band: 1 as const, outbox: [] };
    return { ...scan, report_token: id, filter_keys: filterKeysOf(scan) };
  });
  await store.collection<StoredScan>('scans').insertMany(scans);
  await store.close();
}

/** A control plane with such a store, in which the organization with many scans may have 30 leases at once. */
async function startPlane(t: TestContext) {
  const [redis, router] = await Promise.all([startRedis(), startCatalogueServer(NODE_TOKEN)]);
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-fairness-'));
  await fillStore(folder);
  const settings = planeSettings({
    ...{ folder, proxyUrl: router.url, redisUrl: redis.url },
    ...{ nodeToken: NODE_TOKEN, apiKey: KEYS.operator },
  });
  const plane = await startControlPlane(readConfig(settings), LOGGER);
  t.after(async () => {
    for (const [, stop] of plane.stops) await stop();
    router.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const call = async (who: keyof typeof KEYS, method: string, path: string, body?: object): Promise<Json> => {
    const init = {
      method,
      headers: { authorization: `Bearer ${KEYS[who]}` },
      body: body ? JSON.stringify(body) : null,
    };
    const answer = await fetch(`http://127.0.0.1:${plane.ports.http}/api/v1${path}`, init);
    assert.ok(answer.ok, `${method} ${path} was answered ${answer.status}`);
    return answer.json();
  };
  await call('operator', 'PATCH', '/organizations/many', { concurrent_leases: CAP });
  return { call, nodeApi: `http://127.0.0.1:${plane.ports.node_api}` };
}

/** Simulated nodes that keep every lease; returns the leases of one of them. */
function holdingNodes(t: TestContext, nodeApi: string) {
  const node = new SimulatedNode(nodeApi, NODE_TOKEN);
  const held: Lease[] = [];
  const renewing = setInterval(() => {
    for (const lease of held) void node.renew(lease).catch(() => undefined);
  }, 2_000);
  t.after(() => clearInterval(renewing));
  return async (name: string, max: number): Promise<LeaseOfFirst[]> => {
    const { leases } = await node.acquire({ node_id: name, max, wait_ms: 0 });
    held.push(...leases);
    return leases;
  };
}

it('§5.7 while an organization has 10,000 bulk scans waiting, the scan of another one is leased within two turns; the cap holds', async (t) => {
  const { call, nodeApi } = await startPlane(t);
  const take = holdingNodes(t, nodeApi);
  const queue = async () => (await call('operator', 'GET', '/fleet')).queue;
  const isCapped = ({ waiting_bulk, capped }: Json) => waiting_bulk === MANY && capped === MANY - CAP;
  await until('all of them to wait, under the cap', async () => isCapped(await queue()), 60);
  await until('a first lease', async () => (await take('first', 10)).length > 0, 60);

  const { id } = await call('single', 'POST', '/scans', PAGE);
  await until('the single scan to wait', async () => (await queue()).waiting_interactive === 1, 60);
  const turns = [...(await take('second', 1)), ...(await take('third', 1))];
  assert.ok(turns.some(({ scan_id }) => scan_id === id));

  await Promise.all(['fourth', 'fifth', 'sixth', 'seventh'].map((name) => take(name, 32)));
  const { leased, capped, waiting_bulk } = await queue();
  assert.deepEqual([leased, waiting_bulk, capped], [CAP + 1, MANY - CAP, MANY - CAP]);
  const running = async (who: keyof typeof KEYS) => (await call(who, 'GET', '/scans?status=running&limit=1')).total;
  assert.deepEqual([await running('many'), await running('single')], [CAP, 1]);
});
