import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { hashApiKey } from '../../src/accounts/keys/api-key.ts';
import { idempotencyScope } from '../../src/http/idempotent.ts';
import {
  EVERYTHING,
  FIRST,
  itemsOf,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../support/running-api.ts';

const OPERATORS = 'key-of-the-operator';

describe('a request with an Idempotency-Key', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(() => api.stop());

  const create = (key: string, body: object = PAGE, sent = {}) =>
    api.post('/api/v1/scans', body, { headers: { 'idempotency-key': key }, ...sent });
  const keyIdOf = async (key: string) => (await api.accounts.keys.findByHash(hashApiKey(key)))!._id;
  const total = async () => (await api.scans.list(ORGANIZATIONS.ours, EVERYTHING, FIRST)).total;

  test('§4.2.18 repeated with the same key and body returns the first response and creates nothing', async () => {
    const first = await create('order-1');
    const before = await total();
    const second = await create('order-1');
    assert.equal(second.status, 201);
    assert.deepEqual(second.body, first.body);
    assert.equal(first.headers.get('idempotency-replayed'), null);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.equal(await total(), before);
  });

  test('§4.2.18 repeated with the same key and another body is refused', async () => {
    await create('order-2');
    const answer = await create('order-2', { ...PAGE, country_code: 'PT' });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.code, 'idempotency.key_reused');
    assert.deepEqual(itemsOf(answer), ['header.Idempotency-Key key_reused']);
  });

  test('repeated with the fields of its body in another order counts as the same request', async () => {
    const first = await create('order-ordered');
    const again = await create('order-ordered', Object.fromEntries(Object.entries(PAGE).reverse()) as typeof PAGE);
    assert.deepEqual([again.status, again.body.id], [201, first.body.id]);
  });

  test('§4.2.18 sent many times concurrently creates one scan', async () => {
    const before = await total();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('order-3')));
    assert.equal(await total(), before + 1);
    const statuses = new Set(answers.map(({ status }) => status));
    assert.ok(statuses.has(201));
    assert.deepEqual(
      [...statuses].filter((status) => status !== 201 && status !== 409),
      [],
    );
    for (const { status, body } of answers) if (status === 409) assert.equal(body.code, 'idempotency.in_progress');
  });

  test('that was refused can be corrected and sent with the same key', async () => {
    assert.equal((await create('order-4', { ...PAGE, country_code: 'XX' })).status, 422);
    assert.equal((await create('order-4')).status, 201);
  });

  test('can use a key that another organization has used', async () => {
    const ours = await create('order-5');
    const theirs = await create('order-5', PAGE, { key: KEYS.theirs });
    assert.equal(theirs.status, 201);
    assert.notEqual(ours.body.id, theirs.body.id);
  });

  test('§4.2.18 is never answered with the response of a request with another API key', async () => {
    const narrow = await api.keyThatMay('account.manage');
    const path = '/api/v1/account/api-keys';
    const sent = { headers: { 'idempotency-key': 'order-of-a-key' } };
    const first = await api.post(path, { name: 'All' }, sent);
    const repeated = await api.post(path, { name: 'All' }, { ...sent, key: narrow });
    assert.deepEqual([first.status, repeated.status], [201, 201]);
    assert.equal(repeated.headers.get('idempotency-replayed'), null);
    assert.notEqual(repeated.body.full_key, first.body.full_key);
    assert.deepEqual(repeated.body.permissions, ['account.manage']);
  });

  test('§4.2.18 is identified by the ids in its path too', () => {
    const caller = { organizationId: 'o', keyId: 'k', permissions: new Set<never>(), expiresAt: null };
    const scopeOf = (id: string) =>
      idempotencyScope({ method: 'POST', path: '/api/v1/campaigns/{id}/run' }, { caller, params: { id } });
    assert.equal(scopeOf('a/b'), 'k POST /api/v1/campaigns/a%2Fb/run');
    assert.notEqual(scopeOf('a'), scopeOf('b'));
  });

  test('that was interrupted after its write is run again and creates nothing twice', async () => {
    const scope = `${await keyIdOf(KEYS.ours)} POST /api/v1/scans`;
    const first = await create('order-6');
    const collection = api.store.collection('idempotency_keys');
    await collection.updateMany({ 'answer.body': { $regex: first.body.id } }, { $set: { answer: null } });
    assert.equal((await create('order-6')).status, 409, 'it may still be running');
    await api.idempotency.interrupt(scope, 'order-6');
    const before = await total();
    const again = await create('order-6');
    assert.deepEqual([again.status, again.body.id], [201, first.body.id]);
    assert.equal(await total(), before);
  });

  test('§4.2.18 that was interrupted, and is refused when it is run again, creates nothing twice when it is repeated', async () => {
    const scope = `${await keyIdOf(KEYS.ours)} POST /api/v1/scans`;
    const campaign = { name: 'Spring', url: PAGE.url, country_codes: [PAGE.country_code] };
    const { id: campaign_id } = (await api.post('/api/v1/campaigns', campaign)).body;
    const body = { ...PAGE, campaign_id };
    const first = await create('order-refused', body);
    assert.equal(first.status, 201, first.text);
    await api.store
      .collection('idempotency_keys')
      .updateMany({ 'answer.body': { $regex: first.body.id } }, { $set: { answer: null } });
    await api.idempotency.interrupt(scope, 'order-refused');
    const before = await total();
    await api.post(`/api/v1/campaigns/${campaign_id}/archive`);
    for (let time = 0; time < 2; time += 1)
      assert.equal((await create('order-refused', body)).body.code, 'campaigns.archived');
    await api.post(`/api/v1/campaigns/${campaign_id}/unarchive`);
    const again = await create('order-refused', body);
    assert.deepEqual([again.status, again.body.id, await total()], [201, first.body.id, before]);
  });

  test('§4.2.18 repeated by an organization that is not active any more returns the first response', async () => {
    const create = (name: string, order: string) =>
      api.post('/api/v1/custom-taxonomies', { name }, { key: KEYS.theirs, headers: { 'idempotency-key': order } });
    const first = await create('Before', 'order-of-the-suspended');
    assert.equal(first.status, 201, first.text);
    const organizations = api.store.collection<{ _id: string }>('organizations');
    const become = (status: string) => organizations.updateOne({ _id: ORGANIZATIONS.theirs }, { $set: { status } });
    await become('suspended');
    const again = await create('Before', 'order-of-the-suspended');
    const later = await create('Later', 'later order');
    await become('active');
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(later.body.code, 'billing.suspended');
  });

  test('can reuse a key after 24 hours', async () => {
    const scope = 'any scope';
    const now = new Date('2026-05-01T00:00:00Z');
    const day = 24 * 60 * 60 * 1000;
    const begin = (at: number, fingerprint = 'body') =>
      api.idempotency.begin(scope, 'key', fingerprint, new Date(now.getTime() + at));
    assert.equal((await begin(0)).run, true);
    await api.idempotency.finish(scope, 'key', { status: 201, body: '{}' });
    assert.equal((await begin(day - 1)).run, false);
    assert.equal((await begin(day, 'another body')).run, true);
  });

  test('is refused if its key is empty or longer than 255 characters', async () => {
    assert.equal((await create('k'.repeat(255))).status, 201);
    assert.deepEqual(itemsOf(await create('k'.repeat(256))), ['header.Idempotency-Key string_length']);
  });

  test('§4.2.19 that is a dry run is validated completely, writes nothing and can be repeated as a real request', async () => {
    const before = await total();
    const answer = await api.post('/api/v1/scans?dry_run=true', PAGE, { headers: { 'idempotency-key': 'order-7' } });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      dry_run: true,
      scans: 1,
      checks: { min: 1, max: 1 },
      cost_micros: { min: 10_000, max: 10_000 },
      routable: true,
      warnings: [],
    });
    assert.equal((await api.post('/api/v1/scans?dry_run=true', { ...PAGE, url: 'x' })).status, 422);
    assert.equal(await total(), before);
    assert.equal((await create('order-7')).status, 201);
  });

  test('§4.2.19 that is a dry run reports a target without an exit', async () => {
    const routable = async (change: object) =>
      (await api.post('/api/v1/scans?dry_run=true', { ...PAGE, ...change })).body.routable;
    assert.equal(await routable({ proxy: { region: 'Texas', city: 'Houston' } }), true);
    assert.equal(await routable({ proxy: { region: 'Texas', city: 'Los Angeles' } }), false);
    assert.equal(await routable({ country_code: 'PT', proxy: { proxy_type: 'mobile' } }), false);
    assert.equal(await routable({ proxy: { region: 'Texas', isp: 'Comcast' } }), null);
  });

  const CREATING: [path: string, body: object][] = [
    ['/api/v1/custom-rules', { name: 'a', tag_slug: 'a', rule_type: 'stopword_url', config: { contains: ['a'] } }],
    ['/api/v1/custom-taxonomies', { name: 'Verticals', nodes: [{ client_id: '1', name: 'Games' }] }],
    ['/api/v1/account/roles', { name: 'Reader', permissions: ['scans.read'] }],
    ['/api/v1/account/api-keys', { name: 'Reader', permissions: ['scans.read'] }],
    ['/api/v1/organizations', { name: 'An agency' }],
  ];
  for (const [path, body] of CREATING)
    test(`§7.2.5 POST ${path} sent twice creates one record and returns the same response`, async () => {
      const sent = { key: OPERATORS, headers: { 'idempotency-key': `of ${path}` } };
      const [first, again] = [await api.post(path, body, sent), await api.post(path, body, sent)];
      assert.deepEqual([first.status, again.status], [201, 201], again.text);
      assert.deepEqual(again.body, first.body);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      const other = await api.post(path, { ...body, name: 'b' }, sent);
      assert.deepEqual([other.status, other.body.code], [422, 'idempotency.key_reused']);
    });

  test('§7.2.5 §5.5 with a secret in its response is stored encrypted', async () => {
    const remembered = JSON.stringify(await api.store.collection('idempotency_keys').find({}).toArray());
    assert.match(remembered, /Verticals/);
    assert.doesNotMatch(remembered, /full_key|api_key|adsw_/);
  });

  test('§7.2.5 whose response was lost creates its record only once', async () => {
    for (const [path, body] of CREATING.slice(0, 3)) {
      const [scope, name] = [`${await keyIdOf(OPERATORS)} POST ${path}`, `lost ${path}`];
      const sent = { key: OPERATORS, headers: { 'idempotency-key': name } };
      const first = await api.post(path, body, sent);
      await api.store
        .collection('idempotency_keys')
        .updateMany({ 'answer.body': { $regex: first.body.id } }, { $set: { answer: null } });
      await api.idempotency.interrupt(scope, name);
      const again = await api.post(path, body, sent);
      assert.deepEqual([again.status, again.body], [201, first.body]);
    }
  });
});
