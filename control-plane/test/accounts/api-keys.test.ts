import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiKeyRecord, findCaller, recordUse } from '../../src/accounts/keys/api-key.ts';
import { PERMISSIONS } from '../../src/http/caller.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const PATH = '/api/v1/account/api-keys';

describe('the API keys of an organization', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const create = (body: object, key = KEYS.ours) => api.post(PATH, body, { key });
  const list = async (key = KEYS.ours): Promise<Json[]> => (await api.get(PATH, { key })).body;

  test('§5.5 a new key is shown once, is valid, and is stored only as a hash', async () => {
    const { status, body, text } = await create({ name: 'Build server' });
    assert.equal(status, 201);
    assert.match(body.full_key, /^adsw_[A-Za-z0-9_-]{43}$/);
    assert.ok(text.includes(body.full_key));
    const listed = (await list()).find(({ id }) => id === body.id);
    const { full_key, ...shown } = body;
    assert.deepEqual(listed, { ...shown, last_used_at: null, is_operators: false });
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: body.full_key })).status, 201);
    const stored = await api.store.collection('api_keys').find({}).toArray();
    for (const one of [await list(), stored]) assert.ok(!JSON.stringify(one).includes(full_key));
  });

  test('§5.5 an organization has at most 1,000 keys that are not revoked, however many are created at once', async () => {
    const theirs = (body: object) => create(body, KEYS.theirs);
    const about = { organization_id: ORGANIZATIONS.theirs, name: 'Old', source: 'api' as const, permissions: [] };
    const before = (await list(KEYS.theirs)).length;
    for (let at = before; at < 999; at++)
      await api.accounts.keys.insert(apiKeyRecord(`old-key-${at}`, about, new Date()));
    const answers = await Promise.all([theirs({ name: 'One' }), theirs({ name: 'Two' })]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409]);
    const one = answers.find(({ status }) => status === 201)!.body;
    assert.equal((await theirs({ name: 'More' })).body.code, 'account.too_many_keys');
    assert.equal((await api.call('DELETE', `${PATH}/${one.id}`, { key: KEYS.theirs })).status, 204);
    assert.equal((await theirs({ name: 'Again' })).status, 201);
  });

  test('§5.5 a key can have fewer permissions than the key that creates it, and never more', async () => {
    const { body: reader } = await create({ name: 'Reader', permissions: ['scans.read', 'account.manage'] });
    assert.equal((await api.get('/api/v1/scans', { key: reader.full_key })).status, 200);
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: reader.full_key })).status, 403);
    const more = await create({ name: 'More', permissions: ['scans.read', 'scans.write'] }, reader.full_key);
    assert.deepEqual(itemsOf(more), ['body.permissions permission_lacking']);
    assert.match(more.body.detail[0].msg, /scans\.write/);
    assert.deepEqual(itemsOf(await create({ name: 'Fleet', permissions: ['fleet.manage'] })), [
      'body.permissions permission_lacking',
    ]);
    const { body: same } = await create({ name: 'Same' }, reader.full_key);
    assert.deepEqual(same.permissions.toSorted(), ['account.manage', 'scans.read']);
    const { body: none } = await create({ name: 'None', permissions: [] });
    assert.equal((await api.get('/api/v1/scans', { key: none.full_key })).status, 403);
    assert.equal((await api.get('/api/v1/geos', { key: none.full_key })).status, 200);
  });

  test('an expired key is refused', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body } = await create({ name: 'For a minute', expires_at });
    assert.equal(body.expires_at, expires_at);
    const at = (ms: number) => findCaller(api.accounts.keys, body.full_key, new Date(Date.parse(expires_at) + ms));
    assert.ok(await at(-1));
    assert.equal(await at(0), null);
  });

  test('§5.5 a key expires no later than the key that creates it', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { body: brief } = await create({ name: 'Brief', expires_at });
    const later = await create(
      { name: 'x', expires_at: new Date(Date.parse(expires_at) + 1).toISOString() },
      brief.full_key,
    );
    assert.deepEqual(itemsOf(later), ['body.expires_at date_too_late']);
    for (const sent of [{}, { expires_at: null }, { expires_at }])
      assert.equal((await create({ name: 'x', ...sent }, brief.full_key)).body.expires_at, expires_at);
  });

  test('§5.5 §5.6 the first key of an organization expires with the operator’s key that created it', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const of = { organization_id: ORGANIZATIONS.ours, name: 'Brief operator', source: 'api' as const };
    const record = apiKeyRecord('brief-operator', { ...of, permissions: [...PERMISSIONS] }, new Date(), expiresAt);
    await api.accounts.keys.insert(record);
    const { body } = await api.post('/api/v1/organizations', { name: 'Agency' }, { key: 'brief-operator' });
    const [first] = await list(body.api_key);
    assert.equal(first.expires_at, expiresAt.toISOString());
  });

  const REFUSED: [change: object, items: string[]][] = [
    [{}, ['body.name missing']],
    [{ name: '' }, ['body.name string_too_short']],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, ['body.expires_at date_past']],
    [{ name: 'x', expires_at: 'tomorrow' }, ['body.expires_at date-time_invalid']],
    [{ name: 'x', expires_at: '2099-12-31T23:59:60Z' }, ['body.expires_at date-time_invalid']],
    [{ name: 'x', expires_at: '2099-12-31T00:00:00Z[UTC]' }, ['body.expires_at date-time_invalid']],
    [{ name: 'x', permissions: ['scans.read', 'scans.read'] }, ['body.permissions duplicate_items']],
    [{ name: 'x', permissions: ['everything'] }, ['body.permissions.0 enum']],
    [{ name: 'x', key: 'my own' }, ['body.key unexpected_field']],
  ];
  for (const [change, items] of REFUSED)
    test(`an invalid key request is refused: ${JSON.stringify(change)}`, async () => {
      assert.deepEqual(itemsOf(await create(change)), items);
    });

  test('§5.5 a revoked key is refused, and only its organization can revoke it', async () => {
    const { body } = await create({ name: 'Short-lived' });
    assert.equal((await api.call('DELETE', `${PATH}/${body.id}`, { key: KEYS.theirs })).status, 404);
    assert.equal((await api.get('/api/v1/scans', { key: body.full_key })).status, 200);
    assert.equal((await api.call('DELETE', `${PATH}/${body.id}`)).status, 204);
    assert.equal((await api.get('/api/v1/scans', { key: body.full_key })).status, 401);
    assert.equal((await api.call('DELETE', `${PATH}/${body.id}`)).status, 404);
    assert.ok(!(await list()).some(({ id }) => id === body.id));
    assert.ok((await list(KEYS.theirs)).every(({ id }) => id !== body.id));
  });

  test('the key from the settings is listed and cannot be revoked through the API', async () => {
    await api.store
      .collection<{ _id: string }>('api_keys')
      .updateOne({ organization_id: ORGANIZATIONS.theirs }, { $set: { source: 'environment' } });
    const [key] = await list(KEYS.theirs);
    assert.equal(key.is_operators, true);
    const answer = await api.call('DELETE', `${PATH}/${key.id}`, { key: KEYS.theirs });
    assert.deepEqual([answer.status, answer.body.code], [409, 'account.key_of_settings']);
  });

  test('the last use of a key is recorded at most once a minute', async () => {
    const { body } = await create({ name: 'In use' });
    const record = await api.accounts.keys.find(ORGANIZATIONS.ours, body.id);
    const now = new Date('2027-01-01T00:00:00.000Z');
    const noted: Date[] = [];
    const keys = {
      recordUse: async (id: string, at: Date) => {
        noted.push(at);
        await api.accounts.keys.recordUse(id, at);
      },
    };
    const seconds = (count: number) => new Date(now.getTime() + count * 1000);
    for (const at of [seconds(0), seconds(59)]) await recordUse(keys, { ...record!, last_used_at: now }, at);
    assert.deepEqual(noted, []);
    await recordUse(keys, record!, now);
    await recordUse(keys, { ...record!, last_used_at: now }, seconds(60));
    assert.deepEqual(noted, [now, seconds(60)]);
    const listed = (await list()).find(({ id }) => id === body.id);
    assert.equal(listed.last_used_at, seconds(60).toISOString());
  });
});
