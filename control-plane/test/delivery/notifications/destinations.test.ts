import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/alert-notifications/destinations';
const SLACK_URL = 'https://hooks.slack.example/services/T0/B0/secret-of-slack';
const BOT_TOKEN = '123456:secret-of-the-telegram-bot-x';
const SLACK = { name: 'Ops', channel: 'slack', slack: { webhook_url: SLACK_URL } };
const TELEGRAM = { name: 'Chat', channel: 'telegram', telegram: { bot_token: BOT_TOKEN, chat_id: -1001234567890 } };
const EMAIL = { name: 'Mail', channel: 'email', email: { address: 'ops@customer.example' } };

let api: RunningApi;
before(async () => {
  const mailer = { send: async () => ({ sent: true, status: 250 }) as const };
  api = await runningApi({ mailer, settings: { egress: new EgressPolicy([], []) } });
});
after(() => api.stop());

const create = async (body: object): Promise<Json> => {
  const answer = await api.post(PATH, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const refused = async (body: object, path = PATH, method = 'POST'): Promise<string[]> => {
  const answer = await api.call(method, path, { body });
  assert.equal(answer.status, 422, answer.text);
  return itemsOf(answer);
};
const patch = (id: string, body: object) => api.call('PATCH', `${PATH}/${id}`, { body });
const newCampaign = async (more: object = {}): Promise<Json> => {
  const body = { name: 'Spring', url: 'https://shop.example/', country_codes: ['US'], ...more };
  const answer = await api.post('/api/v1/campaigns', body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const overridesOf = (id: string) => `/api/v1/alert-notifications/campaigns/${id}/overrides`;

describe('destinations of alerts', () => {
  test('§2.8.40 a destination has every field, with the defaults of those that were not sent', async () => {
    const { id, created_at, updated_at, ...one } = await create(TELEGRAM);
    assert.deepEqual(one, {
      ...{ organization_id: ORGANIZATIONS.ours, channel: 'telegram', name: 'Chat', is_active: true },
      ...{ disabled_reason: null, is_default_target: true, version: 'public', consecutive_failures: 0 },
      ...{ last_delivery_at: null, last_delivery_status: null, last_delivery_error: null, failing_since: null },
      ...{ paused_until: null, slack_workspace_id: null, slack_channel_id: null, slack_channel_name: null },
      ...{ telegram_chat_id: -1001234567890, telegram_chat_title: null, telegram_chat_type: null },
      ...{ email_address: null, included_label_keys: [], included_statuses: ['open'], route_label_key: null },
      route_label_values: [],
    });
    assert.deepEqual((await api.get(`${PATH}/${id}`)).body, { id, created_at, updated_at, ...one });
    const all = (await api.get(PATH)).body;
    assert.ok(Array.isArray(all) && all.some((row) => row.id === id));
  });

  test('§5.16 what connects a destination is stored encrypted and never returned', async () => {
    const texts: string[] = [];
    for (const body of [SLACK, TELEGRAM]) {
      const created = await api.post(PATH, body);
      const changed = await patch(created.body.id, { name: 'Renamed' });
      texts.push(created.text, changed.text, (await api.get(`${PATH}/${created.body.id}`)).text);
      const stored = await api.domains.delivery.stores.destinations.find(ORGANIZATIONS.ours, created.body.id);
      texts.push(JSON.stringify(stored));
      assert.match(stored!.secret!, /^v1:/);
    }
    texts.push((await api.get(PATH)).text);
    for (const text of texts) assert.ok(!/secret-of/.test(text), text);
  });

  test('§2.8.41 a destination has exactly the connection of its channel', async () => {
    assert.deepEqual(await refused({ ...SLACK, email: EMAIL.email }), ['body.email invalid_combination']);
    assert.deepEqual(await refused({ name: 'x', channel: 'slack' }), ['body.slack missing']);
    assert.deepEqual(await refused({ ...TELEGRAM, telegram: { ...TELEGRAM.telegram, chat_id: '5' } }), [
      'body.telegram.chat_id int_type',
    ]);
    const { id } = await create(SLACK);
    assert.deepEqual(await refused({ telegram: TELEGRAM.telegram, channel: 'email' }, `${PATH}/${id}`, 'PATCH'), [
      'body.channel unexpected_field',
      'body.telegram invalid_combination',
    ]);
  });

  test('§2.8.42 a Slack URL is https and leads to no private network, in whatever form it is written', async () => {
    const inside = ['https://127.0.0.1/', 'https://2130706433/', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/'];
    const names = ['https://localhost/', 'https://hooks.internal/', 'https://[64:ff9b::7f00:1]/', 'https://metadata/'];
    for (const webhook_url of [...inside, ...names])
      assert.deepEqual(await refused({ ...SLACK, slack: { webhook_url } }), ['body.slack.webhook_url blocked_address']);
    assert.deepEqual(await refused({ ...SLACK, slack: { webhook_url: 'http://hooks.example/' } }), [
      'body.slack.webhook_url not_https',
    ]);
    assert.deepEqual(await refused({ ...SLACK, slack: { webhook_url: 'https://user:pass@hooks.example/' } }), [
      'body.slack.webhook_url not_a_url',
    ]);
    const { id } = await create(SLACK);
    const changed = { slack: { webhook_url: 'https://10.0.0.1/' } };
    assert.deepEqual(await refused(changed, `${PATH}/${id}`, 'PATCH'), ['body.slack.webhook_url blocked_address']);
  });

  test('§2.8.43 without a mail server a destination cannot be a mail address', async () => {
    assert.equal((await create(EMAIL)).email_address, 'ops@customer.example');
    for (const address of [
      'two@a.example, b@a.example',
      'a b@c.example',
      'a@b',
      '<a@b.example>',
      'a@b.example\r\nX: y',
    ])
      assert.deepEqual(await refused({ ...EMAIL, email: { address } }), ['body.email.address string_pattern_mismatch']);
    const without = await runningApi({ catalogue: null });
    try {
      const answer = await without.post(PATH, EMAIL);
      assert.deepEqual([answer.status, answer.body.code], [422, 'notifications.mail_not_configured']);
      assert.deepEqual(itemsOf(answer), ['body.channel mail_not_configured']);
    } finally {
      await without.stop();
    }
  });

  test('§2.8.44 a change keeps what was not sent; clearing the label key clears its values', async () => {
    const routing = { route_label_key: 'team', route_label_values: ['emea', 'emea', 'apac'] };
    const { id } = await create({ ...SLACK, ...routing, included_statuses: ['open', 'resolved'] });
    const { body } = await patch(id, { name: ' New ', version: 'internal', is_default_target: false });
    assert.deepEqual(
      [body.name, body.version, body.is_default_target, body.route_label_key, body.route_label_values],
      ['New', 'internal', false, 'team', ['emea', 'apac']],
    );
    assert.deepEqual(body.included_statuses, ['open', 'resolved']);
    const cleared = (await patch(id, { route_label_key: null })).body;
    assert.deepEqual([cleared.route_label_key, cleared.route_label_values], [null, []]);
    assert.deepEqual(await refused({ route_label_values: ['x'] }, `${PATH}/${id}`, 'PATCH'), [
      'body.route_label_values invalid_combination',
    ]);
    assert.deepEqual(await refused({ route_label_key: 'team' }, `${PATH}/${id}`, 'PATCH'), [
      'body.route_label_values missing',
    ]);
    assert.equal((await api.call('PATCH', `${PATH}/${id}/version`, { body: { version: 'public' } })).status, 204);
    assert.equal((await api.get(`${PATH}/${id}`)).body.version, 'public');
  });

  test('§2.8.45 is_active false pauses a destination, and true starts it anew', async () => {
    const { id } = await create(SLACK);
    const paused = (await patch(id, { is_active: false })).body;
    assert.deepEqual([paused.is_active, paused.disabled_reason], [false, 'paused']);
    const active = (await patch(id, { is_active: true })).body;
    assert.deepEqual([active.is_active, active.disabled_reason, active.consecutive_failures], [true, null, 0]);
  });

  test('§2.8.45 another connection starts a destination anew that fails or was switched off for it, and none that a client has paused', async () => {
    const { id } = await create(SLACK);
    const until = new Date(Date.now() + 3_600_000);
    const failing = { 'health.failing_since': new Date(), 'health.paused_until': until };
    const store = (set: object) => api.store.collection<Json>('destinations').updateOne({ _id: id }, { $set: set });
    const move = async (to: string) => (await patch(id, { slack: { webhook_url: `${SLACK_URL}-${to}` } })).body;
    await store(failing);
    assert.equal((await patch(id, { name: 'Other' })).body.paused_until, until.toISOString());
    assert.equal((await move('1')).paused_until, null);
    await store({ ...failing, is_active: false, disabled_reason: 'failing' });
    const active = await move('2');
    assert.deepEqual([active.is_active, active.disabled_reason, active.failing_since], [true, null, null]);
    await patch(id, { is_active: false });
    assert.deepEqual([(await move('3')).is_active, (await move('4')).disabled_reason], [false, 'paused']);
  });

  test('§2.8.80 an organization has at most 50 destinations, however many are created at once', async () => {
    const theirs = (name: string) => api.post(PATH, { ...SLACK, name }, { key: KEYS.theirs });
    for (let at = 0; at < 49; at += 1) assert.equal((await theirs(`${at}`)).status, 201);
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(theirs));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
    const refusal = answers.find(({ status }) => status === 409);
    assert.equal(refusal?.body.code, 'notifications.too_many_destinations');
    for (const { id } of (await api.get(PATH, { key: KEYS.theirs })).body)
      assert.equal((await api.call('DELETE', `${PATH}/${id}`, { key: KEYS.theirs })).status, 204);
  });

  test('§5.3 other organizations and keys without the permission reach no destination and no routing', async () => {
    const { id } = await create(SLACK);
    const campaign = await newCampaign();
    const narrowed = await api.keyThatMay('campaigns.read', 'campaigns.write', 'alerts.manage', 'webhooks.manage');
    const calls: [string, string, object?][] = [
      ...([
        ['GET', PATH],
        ['POST', PATH, SLACK],
      ] as [string, string, object?][]),
      ['GET', `${PATH}/${id}`],
      ['PATCH', `${PATH}/${id}`, { name: 'theirs' }],
      ['PATCH', `${PATH}/${id}/version`, { version: 'internal' }],
      ['POST', `${PATH}/${id}/test`],
      ['DELETE', `${PATH}/${id}`],
      ['GET', overridesOf(campaign.id)],
      ['PUT', overridesOf(campaign.id), { mode: 'silence' }],
    ];
    for (const [method, path, body] of calls) {
      assert.equal((await api.call(method, path, { key: narrowed, body })).status, 403, `${method} ${path}`);
      if (path === PATH) continue;
      assert.equal((await api.call(method, path, { key: KEYS.theirs, body })).status, 404, `${method} ${path}`);
    }
    assert.deepEqual((await api.get(PATH, { key: KEYS.theirs })).body, []);
    assert.equal((await api.get(`${PATH}/${id}`)).body.name, 'Ops');
    assert.equal((await api.get(overridesOf(campaign.id))).body.mode, 'inherit');
  });
});

describe('the alert routing of a campaign', () => {
  test('§2.8.46 a campaign without routing answers inherit; PUT replaces mode, list and label key together', async () => {
    const [campaign, one] = [await newCampaign(), await create(SLACK)];
    const path = overridesOf(campaign.id);
    const put = (body: object) => api.call('PUT', path, { body });
    const read = async () => (await api.get(path)).body;
    const identity = { campaign_id: campaign.id };
    assert.deepEqual(await read(), { ...identity, mode: 'inherit', destination_ids: [], routing_label_key: null });
    const routing = { mode: 'override', destination_ids: [one.id], routing_label_key: 'team' };
    assert.equal((await put(routing)).status, 204);
    assert.deepEqual(await read(), { ...identity, ...routing });
    assert.equal((await put({ mode: 'override' })).status, 204);
    assert.deepEqual(await read(), { ...identity, mode: 'override', destination_ids: [], routing_label_key: null });
    assert.equal((await api.call('PUT', overridesOf('none'), { body: { mode: 'silence' } })).status, 404);
  });

  test('§7.2.10 destination_ids are only for override, a label key is not for silence, and every id must be known', async () => {
    const [campaign, one] = [await newCampaign(), await create(SLACK)];
    const foreign = (await api.post(PATH, SLACK, { key: KEYS.theirs })).body;
    const put = (body: object) => api.call('PUT', overridesOf(campaign.id), { body });
    for (const mode of ['inherit', 'silence']) {
      const answer = await put({ mode, destination_ids: [one.id] });
      assert.deepEqual([answer.status, answer.body.code], [422, 'notifications.invalid_override_combination']);
      assert.deepEqual(itemsOf(answer), ['body.destination_ids invalid_override_combination']);
    }
    const silent = await put({ mode: 'silence', routing_label_key: 'team' });
    assert.deepEqual([silent.status, silent.body.code], [422, 'notifications.invalid_label_routing_combination']);
    const unknown = await put({ mode: 'override', destination_ids: [one.id, foreign.id, 'none'] });
    assert.deepEqual(itemsOf(unknown), ['body.destination_ids.1 not_found', 'body.destination_ids.2 not_found']);
    const mode = await put({ mode: 'loud' });
    assert.deepEqual(itemsOf(mode), ['body.mode enum']);
    assert.match(mode.text, /inherit.*override.*silence/);
    assert.equal((await put({ mode: 'override', destination_ids: Array(51).fill(one.id) })).status, 422);
  });

  test('§2.8.47 a destination that is deleted leaves every override', async () => {
    const [one, other] = [await create(SLACK), await create(SLACK)];
    const routing = { mode: 'override', destination_ids: [one.id, other.id] };
    const campaigns = [await newCampaign({ notifications: routing }), await newCampaign({ notifications: routing })];
    assert.equal((await api.call('DELETE', `${PATH}/${one.id}`)).status, 204);
    for (const { id } of campaigns) assert.deepEqual((await api.get(overridesOf(id))).body.destination_ids, [other.id]);
    assert.equal((await api.call('DELETE', `${PATH}/${one.id}`)).status, 404);
  });

  test('§2.8.48 a campaign takes its routing on create and change, whole and checked before anything is written', async () => {
    const one = await create(SLACK);
    const notifications = { mode: 'override', destination_ids: [one.id], routing_label_key: 'team' };
    const { id } = await newCampaign({ notifications });
    const read = async () => (await api.get(overridesOf(id))).body;
    assert.deepEqual(await read(), { campaign_id: id, ...notifications });
    const change = (body: object, key?: string) =>
      api.call('PATCH', `/api/v1/campaigns/${id}`, { body, ...(key && { key }) });
    const bad = await change({ name: 'Changed', notifications: { mode: 'override', destination_ids: ['none'] } });
    assert.deepEqual(itemsOf(bad), ['body.notifications.destination_ids.0 not_found']);
    assert.equal((await api.get(`/api/v1/campaigns/${id}`)).body.name, 'Spring');
    assert.equal((await change({ name: 'Changed' })).status, 200);
    assert.equal((await change({ notifications: null })).status, 200);
    assert.deepEqual(await read(), { campaign_id: id, ...notifications });
    assert.equal((await change({ notifications: { mode: 'silence' } })).status, 200);
    assert.equal((await read()).mode, 'silence');

    const narrowed = await api.keyThatMay('campaigns.write');
    const forbidden = await change({ notifications: { mode: 'inherit' } }, narrowed);
    assert.equal(forbidden.status, 403);
    assert.match(forbidden.text, /alert_notifications\.manage/);
    const unknown = { mode: 'override', destination_ids: ['none'] };
    assert.equal((await change({ notifications: unknown }, narrowed)).status, 403, 'which destinations there are');
    assert.equal((await change({ name: 'Again' }, narrowed)).status, 200);
    const body = { name: 'x', url: 'https://shop.example/', country_codes: ['US'], notifications: { mode: 'silence' } };
    assert.equal((await api.post('/api/v1/campaigns', body, { key: narrowed })).status, 403);
    assert.equal((await read()).mode, 'silence');
  });
});
