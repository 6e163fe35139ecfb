import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newApiKey } from '@adsweep/shared/ids.ts';
import { addFirstOrganization, FIRST_ORGANIZATION_ID } from '../../src/accounts/add-organization.ts';
import { type ApiKeyRecord, apiKeyRecord, findCaller, hashApiKey } from '../../src/accounts/keys/api-key.ts';
import { ORGANIZATION_STATUSES, type OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { PERMISSIONS } from '../../src/http/caller.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { captureOf, webp } from '../support/running-farm.ts';
import { storeCapture } from '../support/store-capture.ts';

describe('permissions', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const changeOurs = (changes: Partial<OrganizationRecord>) =>
    api.store.collection<OrganizationRecord>('organizations').updateOne({ _id: ORGANIZATIONS.ours }, { $set: changes });

  test('§5.1 a request without a valid bearer key gets 401 with a challenge', async () => {
    const NO_ERROR = /^Bearer realm="adsweep", resource_metadata="[^"]+"$/;
    const challenges: [Parameters<RunningApi['get']>[1], RegExp][] = [
      [{ key: null }, NO_ERROR],
      [{ key: 'wrong' }, /error="invalid_token"/],
      [{ key: null, headers: { authorization: 'Basic dXNlcjpwYXNz' } }, NO_ERROR],
      [{ key: null, headers: { authorization: `Token ${KEYS.ours}` } }, NO_ERROR],
      [{ key: hashApiKey(KEYS.ours) }, /error="invalid_token"/],
    ];
    for (const [sent, challenge] of challenges) {
      const answer = await api.get('/api/v1/scans', sent);
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get('www-authenticate') ?? '', challenge);
      assert.equal(answer.body.code, 'unauthorized');
      assert.equal(typeof answer.body.detail, 'string');
    }
  });

  test('the authorization scheme is accepted in any letter case', async () => {
    const answer = await api.get('/api/v1/emulators', { key: null, headers: { authorization: `bearer ${KEYS.ours}` } });
    assert.equal(answer.status, 200);
  });

  test('§5.3 a 403 names the missing permission; write does not imply read', async () => {
    const writer = await api.keyThatMay('scans.write');
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: writer })).status, 201);
    const answer = await api.get('/api/v1/scans', { key: writer });
    assert.equal(answer.status, 403);
    assert.equal(answer.body.code, 'forbidden');
    assert.match(answer.body.detail, /scans\.read/);
    assert.match(answer.headers.get('www-authenticate') ?? '', /insufficient_scope.*scans\.read/);
  });

  test('a key without the permission is refused before its request is validated', async () => {
    const reader = await api.keyThatMay('scans.read');
    assert.equal((await api.post('/api/v1/scans', { nonsense: true }, { key: reader })).status, 403);
  });

  test('§4.3.1 every operation requires its permission; reference lists accept any valid key', async () => {
    const nobody = await api.keyThatMay();
    for (const { method, path, permission } of api.routes) {
      const where = path.replaceAll(/\{\w+\}/g, '1');
      const { status } = await api.call(method, where, { key: nobody, ...(method === 'GET' ? {} : { body: {} }) });
      const without = await api.call(method, where, { key: null, ...(method === 'GET' ? {} : { body: {} }) });
      if (permission === 'none') {
        assert.ok(![401, 403].includes(without.status), `${method} ${path} was answered ${without.status}`);
      } else {
        // There is no record with the id 1.
        const expected = permission === 'any' ? [200, 404, 422] : [403];
        assert.ok(expected.includes(status), `${method} ${path} was answered ${status}`);
        assert.equal(without.status, 401, `${method} ${path}`);
      }
    }
  });

  test('an expired key gets 401', async () => {
    const record = apiKeyRecord(
      'key-of-yesterday',
      { organization_id: 'o', name: 'n', source: 'api', permissions: [] },
      new Date(),
    );
    await api.accounts.keys.insert({ ...record, expires_at: new Date('2026-01-01T00:00:00Z') });
    assert.equal(await findCaller(api.accounts.keys, 'key-of-yesterday', new Date('2026-01-01T00:00:00Z')), null);
    assert.equal(
      (await findCaller(api.accounts.keys, 'key-of-yesterday', new Date('2025-12-31T23:59:59Z')))?.organizationId,
      'o',
    );
  });

  test('only the hash and a prefix of a key are stored', async () => {
    const key = newApiKey();
    const record = apiKeyRecord(key, { organization_id: 'o', name: 'n', source: 'api', permissions: [] }, new Date());
    assert.ok(!JSON.stringify(record).includes(key.slice(8)));
    assert.equal(record.key_prefix, key.slice(0, 8));
    assert.equal(
      apiKeyRecord('short', { organization_id: 'o', name: 'n', source: 'api', permissions: [] }, new Date()).key_prefix,
      'sh',
    );
  });

  test('a new key from the environment replaces the previous one and no other key', async () => {
    const now = new Date();
    const ownerOf = async (key: string) => (await findCaller(api.accounts.keys, key, now))?.organizationId ?? null;
    const of = { organization_id: FIRST_ORGANIZATION_ID, name: 'made by hand', permissions: [] };
    await api.accounts.keys.insert(apiKeyRecord('key-made-by-hand', { ...of, source: 'api' }, now));
    const { source: _, ...ofEarlierVersion } = apiKeyRecord('key-of-before', { ...of, source: 'environment' }, now);
    await api.accounts.keys.insert(ofEarlierVersion as ApiKeyRecord);
    for (const key of ['first-secret-key', 'first-secret-key', 'second-secret-key']) {
      await addFirstOrganization(api.accounts, key, now);
      assert.equal(await ownerOf(key), FIRST_ORGANIZATION_ID);
    }
    assert.equal(await ownerOf('first-secret-key'), null);
    assert.equal(await ownerOf('key-of-before'), null);
    assert.equal(await ownerOf('key-made-by-hand'), FIRST_ORGANIZATION_ID);
    assert.equal(await ownerOf(KEYS.ours), ORGANIZATIONS.ours);
    assert.equal(await api.store.collection('organizations').countDocuments({}), 3);
    await addFirstOrganization(api.accounts, 'first-secret-key', now);
    assert.equal(await ownerOf('first-secret-key'), FIRST_ORGANIZATION_ID);
  });

  test("the key from the environment is the operator's; the first key of another organization has all permissions within it", async () => {
    await addFirstOrganization(api.accounts, 'key-of-the-operator', new Date());
    const mayDo = async (key: string) => (await findCaller(api.accounts.keys, key, new Date()))?.permissions;
    assert.deepEqual(await mayDo('key-of-the-operator'), new Set(PERMISSIONS));
    const missing = new Set(PERMISSIONS).difference((await mayDo(KEYS.ours))!);
    assert.deepEqual([...missing].sort(), ['fleet.manage', 'fleet.read', 'organizations.manage']);
  });

  test('§5.4 an organization that is not active can read its data and create nothing', async () => {
    const { body: scan } = await api.post('/api/v1/scans', PAGE);
    for (const status of ORGANIZATION_STATUSES.filter((one) => one !== 'active')) {
      await changeOurs({ status });
      for (const query of ['', '?dry_run=true']) {
        const answer = await api.post(`/api/v1/scans${query}`, PAGE);
        assert.deepEqual([answer.status, answer.body.code], [403, 'billing.suspended'], status);
        assert.equal(typeof answer.body.detail, 'string');
      }
      assert.equal((await api.get(`/api/v1/scans/${scan.id}`)).status, 200);
      assert.equal((await api.get('/api/v1/scans')).status, 200);
    }
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: KEYS.theirs })).status, 201);
    await changeOurs({ status: 'active' });
    assert.equal((await api.post('/api/v1/scans', PAGE)).status, 201);
  });

  test('a check costs the organization’s own price, which can be 0', async () => {
    for (const price of [25_000, 0, null]) {
      await changeOurs({ check_price_micros: price });
      const { body } = await api.post('/api/v1/scans', PAGE);
      const scan = await api.scans.find(ORGANIZATIONS.ours, body.id);
      assert.deepEqual(
        [scan?.price_micros, scan?.outbox[0]],
        [price ?? PRICE_MICROS, { ...scan?.outbox[0], amount_micros: price ?? PRICE_MICROS }],
      );
    }
  });

  test('control planes that start concurrently create one organization', async () => {
    await Promise.all(
      Array.from({ length: 5 }, () => addFirstOrganization(api.accounts, 'the-same-key-for-all', new Date())),
    );
    assert.equal(
      await api.store.collection('api_keys').countDocuments({ key_hash: hashApiKey('the-same-key-for-all') }),
      1,
    );
  });

  test("§5.2 another organization's scan cannot be read, listed, cancelled or viewed", async () => {
    const { body } = await api.post('/api/v1/scans', PAGE, { key: KEYS.theirs });
    const capture = captureOf(['https://shop.example/']);
    capture.landings[0]!.screenshot = 'landing-0.webp';
    const files = [{ name: 'landing-0.webp', bytes: await webp() }];
    const summary = await storeCapture(api, body.id, capture, files);
    await api.store
      .collection<{ _id: string; capture: unknown }>('scans')
      .updateOne({ _id: body.id }, { $set: { capture: summary } });
    for (const path of ['', '/tags', '/screenshot', '/landings/0/screenshot'])
      assert.equal((await api.get(`/api/v1/scans/${body.id}${path}`)).status, 404, path);
    for (const path of ['/screenshot', '/landings/0/screenshot'])
      assert.equal((await api.get(`/api/v1/scans/${body.id}${path}`, { key: KEYS.theirs })).status, 200, path);
    assert.equal((await api.post(`/api/v1/scans/${body.id}/cancel`)).status, 404);
    const listed = await api.get(`/api/v1/scans?scan_id=${body.id}`);
    assert.equal(listed.body.total, 0);
    assert.equal((await api.get(`/api/v1/scans/${body.id}`, { key: KEYS.theirs })).status, 200);
  });
});
