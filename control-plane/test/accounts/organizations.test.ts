import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const PATH = '/api/v1/organizations';
const OPERATORS = 'key-of-the-operator';

describe('the organizations of a deployment', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(() => api.stop());

  const operator = { key: OPERATORS };
  const create = async (name: string): Promise<Json> => (await api.post(PATH, { name }, operator)).body;
  const change = (id: string, body: object) => api.call('PATCH', `${PATH}/${id}`, { body, ...operator });

  test('§5.6 the first key of a new organization has all permissions within it, and no access to scans of others', async () => {
    const { status, body } = await api.post(PATH, { name: 'Agency' }, operator);
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ['id', 'name', 'api_key']);
    await api.post('/api/v1/scans', PAGE);
    const scan = await api.post('/api/v1/scans', PAGE, { key: body.api_key });
    assert.equal(scan.status, 201);
    const listed = await api.get('/api/v1/scans', { key: body.api_key });
    assert.deepEqual(
      listed.body.items.map(({ id }: Json) => id),
      [scan.body.id],
    );
    for (const path of [PATH, '/api/v1/fleet/nodes/node-1/block'])
      assert.equal((await api.post(path, { name: 'x' }, { key: body.api_key })).status, 403, path);
    assert.equal((await api.get('/api/v1/account/api-keys', { key: body.api_key })).body.length, 1);
  });

  test('§5.6 an organization that has revoked its last key gets another one from the operator, and nobody else', async () => {
    const { id, api_key } = await create('Locked out');
    const [own] = (await api.get('/api/v1/account/api-keys', { key: api_key })).body;
    assert.equal((await api.call('DELETE', `/api/v1/account/api-keys/${own.id}`, { key: api_key })).status, 204);
    const path = `${PATH}/${id}/api-keys`;
    for (const [key, status] of [
      [api_key, 401],
      [KEYS.ours, 403],
    ] as const)
      assert.equal((await api.post(path, { name: 'Mine' }, { key })).status, status);
    const { status, body } = await api.post(path, { name: 'In place of a lost key' }, operator);
    assert.equal(status, 201);
    const account = (await api.get('/api/v1/account', { key: body.full_key })).body;
    assert.equal(account.id, id);
    assert.deepEqual((await api.get(PATH, { key: body.full_key })).status, 403);
    const listed = (await api.get('/api/v1/account/api-keys', { key: body.full_key })).body;
    assert.deepEqual(
      listed.map(({ name }: Json) => name),
      ['In place of a lost key'],
    );
    assert.equal((await api.post(`${PATH}/none/api-keys`, { name: 'x' }, operator)).status, 404);
  });

  test('§5.6 only the operator’s key can read and change organizations', async () => {
    for (const key of [KEYS.ours, null]) {
      const status = key ? 403 : 401;
      assert.equal((await api.get(PATH, { key })).status, status);
      assert.equal((await api.post(PATH, { name: 'x' }, { key })).status, status);
      const answer = await api.call('PATCH', `${PATH}/${ORGANIZATIONS.ours}`, { key, body: { status: 'suspended' } });
      assert.equal(answer.status, status);
    }
  });

  test('the list of organizations is paged, oldest first, and contains no keys', async () => {
    const names = ['One', 'Two', 'Three'];
    for (const name of names) await create(name);
    const first = (await api.get(`${PATH}?limit=2`, operator)).body;
    const whole = (await api.get(`${PATH}?limit=200`, operator)).body;
    assert.deepEqual([first.items.length, first.total, first.pages], [2, whole.total, Math.ceil(whole.total / 2)]);
    assert.deepEqual(first.items, whole.items.slice(0, 2));
    assert.deepEqual(
      whole.items.slice(-3).map(({ name }: Json) => name),
      names,
    );
    assert.ok(!JSON.stringify(whole).includes('adsw_'));
  });

  test('§5.4 §5.6 a suspended organization creates no scans until it is active again', async () => {
    const { id, api_key } = await create('Late payer');
    const suspended = await change(id, { status: 'suspended' });
    assert.deepEqual([suspended.status, suspended.body.status], [200, 'suspended']);
    const refused = await api.post('/api/v1/scans', PAGE, { key: api_key });
    assert.deepEqual([refused.status, refused.body.code], [403, 'billing.suspended']);
    assert.equal((await api.get('/api/v1/scans', { key: api_key })).status, 200);
    await change(id, { status: 'active', check_price_micros: 25_000, name: 'Good payer' });
    const { body } = await api.post('/api/v1/scans?dry_run=true', PAGE, { key: api_key });
    assert.deepEqual(body.cost_micros, { min: 25_000, max: 25_000 });
    assert.equal((await change(id, { check_price_micros: null })).body.name, 'Good payer');
  });

  test('§5.7 quotas are changed independently; null removes a quota', async () => {
    const { id } = await create('Limited');
    const quotasOf = ({ checks_per_month, concurrent_leases, requests_per_minute }: Json) => [
      checks_per_month,
      concurrent_leases,
      requests_per_minute,
    ];
    const changes: [object, quotas: (number | null)[]][] = [
      [{ name: 'Limits' }, [null, null, null]],
      [{ checks_per_month: 0, requests_per_minute: 60 }, [0, null, 60]],
      [{ concurrent_leases: 2 }, [0, 2, 60]],
      [{ checks_per_month: null, status: 'suspended' }, [null, 2, 60]],
    ];
    for (const [body, quotas] of changes) {
      const answer = await change(id, body);
      assert.deepEqual([answer.status, quotasOf(answer.body)], [200, quotas]);
      const listed = (await api.get(`${PATH}?limit=200`, operator)).body.items.find((one: Json) => one.id === id);
      assert.deepEqual(listed, answer.body);
    }
    const refused = { checks_per_month: -1, concurrent_leases: 0, requests_per_minute: 1.5 };
    assert.deepEqual(itemsOf(await change(id, refused)), [
      'body.checks_per_month greater_than_equal',
      'body.concurrent_leases greater_than_equal',
      'body.requests_per_minute int_type',
    ]);
  });

  test('invalid values of an organization are refused', async () => {
    const { id } = await create('Any');
    assert.deepEqual(itemsOf(await change(id, { status: 'gone' })), ['body.status enum']);
    assert.deepEqual(itemsOf(await change(id, { check_price_micros: -1 })), [
      'body.check_price_micros greater_than_equal',
    ]);
    assert.deepEqual(itemsOf(await change(id, {})), ['body too_short']);
    assert.deepEqual(itemsOf(await change(id, { api_key: 'mine' })), ['body.api_key unexpected_field']);
    assert.deepEqual(itemsOf(await api.post(PATH, { name: '' }, operator)), ['body.name string_too_short']);
    assert.equal((await change('none', { name: 'x' })).status, 404);
  });
});
