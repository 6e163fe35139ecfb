import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { EndpointRecord } from '../../../src/delivery/webhooks/endpoint.ts';
import { relayAll } from '../../support/alert-doubles.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/webhooks';
const URL = 'https://hooks.example.com/adsweep';

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());
beforeEach(() => api.store.collection('webhook_endpoints').deleteMany({}));

const create = async (change: object = {}, key = KEYS.ours): Promise<Json> => {
  const answer = await api.post(PATH, { url: URL, ...change }, { key });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const refused = async (body: object): Promise<string[]> => {
  const answer = await api.post(PATH, body);
  assert.equal(answer.status, 422, answer.text);
  return itemsOf(answer);
};
const patch = (id: string, body: object) => api.call('PATCH', `${PATH}/${id}`, { body });
const stored = async (id: string): Promise<EndpointRecord> =>
  (await api.store.collection<EndpointRecord>('webhook_endpoints').findOne({ _id: id }))!;

describe('webhook endpoints', () => {
  test('§6.4.1 an endpoint has every field, with failing_since and paused_until flat and in health, and shows its secret once', async () => {
    const { webhook, secret } = await create({ description: 'ours' });
    const { id, created_at, updated_at, ...others } = webhook;
    assert.deepEqual(others, {
      ...{ url: URL, description: 'ours', event_types: [], campaign_ids: null, is_active: true },
      ...{ disabled_reason: null, disabled_reason_detail: null, disabled_at: null },
      ...{ failing_since: null, paused_until: null },
      health: {
        ...{ consecutive_failures: 0, last_delivery_at: null, last_delivery_status: null, success_rate_7d: 1 },
        ...{ failing_since: null, paused_until: null },
      },
    });
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/);
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 24, 'as many bytes as Standard Webhooks asks for');
    const read = await api.get(`${PATH}/${id}`);
    assert.deepEqual(read.body, webhook);
    assert.deepEqual((await api.get(PATH)).body, [webhook]);
    assert.ok(
      !JSON.stringify([read.text, await stored(id)]).includes(secret.slice(6)),
      'stored encrypted, read by nobody',
    );
    assert.equal(created_at, updated_at);
  });

  test('§6.4.2 http URLs and private addresses are refused, also in a change, and all problems are reported together', async () => {
    const { webhook } = await create();
    for (const [url, type] of [
      ['http://hooks.example.com/', 'not_https'],
      ['https://10.1.2.3/', 'blocked_address'],
      ['https://[::1]/', 'blocked_address'],
      ['http://192.168.0.1/', 'not_https'],
      ['https://user:pass@hooks.example.com/', 'not_a_url'],
      ['ftp://hooks.example.com/', 'not_a_url'],
      ['hooks', 'not_a_url'],
    ] as const) {
      // The tests' own network is allowed, so a name may be in it.
      const expected = url.includes('hooks.example') && type === 'not_https' ? [] : [`body.url ${type}`];
      const { status, body } = await patch(webhook.id, { url });
      assert.deepEqual(status === 200 ? [] : itemsOf({ body } as never), expected, url);
      if (expected.length > 0) assert.deepEqual(await refused({ url }), expected, url);
    }
    assert.deepEqual(await refused({ url: 'hooks', event_types: ['scanning.nothing'], campaign_ids: ['none'], x: 1 }), [
      'body.x unexpected_field',
      'body.event_types.0 enum',
      'body.url not_a_url',
      'body.campaign_ids.0 not_found',
    ]);
    assert.equal((await api.post(PATH, { url: 'http://127.0.0.1:9/in-an-allowed-network' })).status, 201);
  });

  test('§6.4.3 an organization has at most 20 endpoints, however many requests come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 26 }, () => api.post(PATH, { url: URL })));
    const count = (status: number) => answers.filter((one) => one.status === status).length;
    assert.deepEqual([count(201), count(409)], [20, 6]);
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'webhooks.too_many');
    const [first, ...others] = (await api.get(PATH)).body;
    assert.equal(others.length, 19);
    await create({}, KEYS.theirs);
    assert.equal((await api.call('DELETE', `${PATH}/${first.id}`)).status, 204);
    await create();
  });

  test('§6.4.4 null leaves a field, clear_campaign_ids lifts the restriction, other fields change', async () => {
    const campaign = await api.post('/api/v1/campaigns', {
      name: 'c',
      url: 'https://a.example/',
      country_codes: ['US'],
    });
    const { webhook } = await create({ campaign_ids: [campaign.body.id], event_types: ['scanning.scan.completed'] });
    const unchanged = (await patch(webhook.id, { url: null, description: null, event_types: null, campaign_ids: null }))
      .body;
    assert.deepEqual({ ...unchanged, updated_at: 0 }, { ...webhook, updated_at: 0 });
    const both = await patch(webhook.id, { campaign_ids: [campaign.body.id], clear_campaign_ids: true });
    assert.deepEqual(itemsOf(both), ['body.clear_campaign_ids invalid_combination']);
    const none = await patch(webhook.id, { campaign_ids: [] });
    assert.deepEqual(itemsOf(none), ['body.campaign_ids too_short'], 'a list without its last campaign');
    const lifted = (await patch(webhook.id, { clear_campaign_ids: true, event_types: [], description: 'x' })).body;
    assert.deepEqual([lifted.campaign_ids, lifted.event_types, lifted.description], [null, [], 'x']);
    assert.deepEqual((await create({ campaign_ids: [] })).webhook.campaign_ids, null);
    const theirs = await api.post(PATH, { url: URL, campaign_ids: [campaign.body.id] }, { key: KEYS.theirs });
    assert.deepEqual(itemsOf(theirs), ['body.campaign_ids.0 not_found']);
  });

  test('§6.4.5 is_active false pauses an endpoint, true starts it anew', async () => {
    const { webhook } = await create();
    const paused = (await patch(webhook.id, { is_active: false })).body;
    assert.deepEqual([paused.is_active, paused.disabled_reason], [false, 'paused']);
    assert.ok(paused.disabled_at && paused.disabled_reason_detail);
    const again = (await patch(webhook.id, { is_active: false })).body;
    assert.equal(again.disabled_at, paused.disabled_at);
    const anew = (await patch(webhook.id, { is_active: true })).body;
    assert.deepEqual([anew.is_active, anew.disabled_reason, anew.disabled_at], [true, null, null]);
    assert.ok((await stored(webhook.id)).due_at, 'what is waiting is due');
  });

  test('§6.4.5 is_active true starts an endpoint anew that fails, so that its pause ends, and changes nothing of one that does not', async () => {
    const { webhook } = await create();
    const [since, until] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
    const failing = { 'health.failing_since': since, 'health.paused_until': until, due_at: until };
    await api.store.collection<Json>('webhook_endpoints').updateOne({ _id: webhook.id }, { $set: failing });
    assert.equal((await patch(webhook.id, { description: 'x' })).body.failing_since, since.toISOString());
    const anew = (await patch(webhook.id, { is_active: true })).body;
    assert.deepEqual([anew.is_active, anew.failing_since, anew.paused_until], [true, null, null]);
    const { due_at, epoch } = await stored(webhook.id);
    assert.ok(due_at! <= new Date(), 'what is waiting is due');
    await patch(webhook.id, { is_active: true });
    assert.equal((await stored(webhook.id)).epoch, epoch);
  });

  test('§6.4.5 another URL starts an endpoint anew that was switched off because it failed, and none that a client has paused', async () => {
    const { webhook } = await create();
    const disabled = { reason: 'failing', detail: 'No delivery was taken.', at: new Date() };
    const off = { $set: { is_active: false, disabled } };
    await api.store.collection<Json>('webhook_endpoints').updateOne({ _id: webhook.id }, off);
    const same = (await patch(webhook.id, { url: URL, description: 'still the same' })).body;
    assert.deepEqual([same.is_active, same.disabled_reason], [false, 'failing']);
    const moved = (await patch(webhook.id, { url: `${URL}/moved` })).body;
    assert.deepEqual([moved.is_active, moved.disabled_reason], [true, null]);
    await patch(webhook.id, { is_active: false });
    const paused = (await patch(webhook.id, { url: URL })).body;
    assert.deepEqual([paused.is_active, paused.disabled_reason], [false, 'paused']);
  });

  test('§6.4.6 rotation takes effect at once; with an overlap earlier secrets sign until it ends, a rotation without one ends them all', async () => {
    const { webhook, secret } = await create();
    const rotate = (body?: object) => api.post(`${PATH}/${webhook.id}/rotate-secret`, body);
    const earlier = async () => (await stored(webhook.id)).earlier_secrets.length;
    const plain = await rotate();
    assert.equal(plain.status, 200, plain.text);
    assert.notEqual(plain.body.secret, secret);
    assert.equal(await earlier(), 0);
    await rotate({ overlap_hours: 72 });
    await Promise.all([rotate({ overlap_hours: 1 }), rotate({ overlap_hours: 1 })]);
    assert.equal(await earlier(), 3, 'rotations at the same moment lose none');
    await rotate({});
    assert.equal(await earlier(), 0);
    for (const overlap_hours of [0, 73]) assert.equal((await rotate({ overlap_hours })).status, 422);
  });

  test('§6.4.7 an Idempotency-Key creates one endpoint and replays its secret', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const [one, two] = [
      await api.post(PATH, { url: URL }, { headers }),
      await api.post(PATH, { url: URL }, { headers }),
    ];
    assert.deepEqual(two.body, one.body);
    assert.equal((await api.get(PATH)).body.length, 1);
  });

  test('§6.4.8 endpoints of another organization are not found, and every route needs webhooks.manage', async () => {
    const { webhook } = await create();
    const reader = await api.keyThatMay('scans.read', 'account.manage');
    for (const [method, path, body] of [
      ['GET', `${PATH}/${webhook.id}`, undefined],
      ['PATCH', `${PATH}/${webhook.id}`, { description: 'x' }],
      ['DELETE', `${PATH}/${webhook.id}`, undefined],
      ['POST', `${PATH}/${webhook.id}/rotate-secret`, {}],
    ] as const) {
      assert.equal((await api.call(method, path, { body, key: KEYS.theirs })).status, 404, path);
      assert.equal((await api.call(method, path, { body, key: reader })).status, 403, path);
    }
    assert.deepEqual((await api.get(PATH, { key: KEYS.theirs })).body, []);
    assert.equal((await stored(webhook.id)).organization_id, ORGANIZATIONS.ours);
  });

  test('§5.14 the audit log has who created, changed, rotated and deleted an endpoint, and no secret', async () => {
    const { webhook, secret } = await create({ description: 'audited' });
    await patch(webhook.id, { description: 'x' });
    const rotated = await api.post(`${PATH}/${webhook.id}/rotate-secret`, { overlap_hours: 1 });
    assert.equal((await api.call('DELETE', `${PATH}/${webhook.id}`)).status, 204);
    await relayAll(api);
    const { text, body } = await api.get('/api/v1/account/audit-log?limit=100');
    const entries = body.items.filter((one: Json) => one.subject_id === webhook.id);
    assert.deepEqual(
      entries.map(({ action }: Json) => action).sort(),
      ['created', 'changed', 'rotated', 'deleted'].map((what) => `webhook.${what}`).sort(),
    );
    assert.deepEqual(entries.find(({ action }: Json) => action === 'webhook.rotated').changes, { overlap_hours: 1 });
    for (const one of [secret, rotated.body.secret]) assert.ok(!text.includes(one.slice(6)));
    for (const call of ['GET', 'DELETE'] as const)
      assert.equal((await api.call(call, `${PATH}/${webhook.id}`)).status, 404);
    assert.deepEqual([(await stored(webhook.id)).secret, (await api.get(PATH)).body], ['', []]);
  });

  test('§6.4.9 event types have a description, a schema and a sample that fits it; any key may read them', async () => {
    const { body } = await api.get(`${PATH}/event-types`, { key: await api.keyThatMay() });
    assert.deepEqual(
      body.entries.map(({ event_type }: Json) => event_type),
      ['scanning.screenshot.captured', 'scanning.tags.detected', 'scanning.scan.completed'],
    );
    for (const { event_type, description, sample_payload, schema } of body.entries) {
      assert.ok(description.length > 20);
      assert.equal(sample_payload.type, event_type);
      const fields = Object.keys(schema.properties.data.properties);
      assert.deepEqual(Object.keys(sample_payload.data).sort(), fields.sort());
      assert.equal(schema.properties.data.additionalProperties, undefined, 'later versions may add fields');
    }
  });
});
