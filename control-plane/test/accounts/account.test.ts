import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { scanPosting } from '../../src/accounts/billing/ledger-entry.ts';
import type { OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { relay } from '../../src/delivery/outbox/relay.ts';
import { ORGANIZATION_PERMISSIONS } from '../../src/http/caller.ts';
import { workMetrics } from '../../src/metrics.ts';
import type { OutboxHandlers } from '../../src/platform/outbox/outbox-entry.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const ACCOUNT = '/api/v1/account';
const KEYS_PATH = `${ACCOUNT}/api-keys`;
const ROLES = `${ACCOUNT}/roles`;
const LABELS = `${ACCOUNT}/labels`;
const USAGE = '/api/v1/billing/usage/daily';
const OPERATORS = 'key-of-the-operator';

describe('an organization and its keys, roles and labels', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(() => api.stop());

  const put = (path: string, body: object) => api.call('PUT', path, { body });
  const patch = (path: string, body: object, key = KEYS.ours) => api.call('PATCH', path, { body, key });
  /** Carries out what waits in the outboxes of organizations and keys. */
  const relayAudits = async (): Promise<void> => {
    const audit: OutboxHandlers['audit'] = (entry, origin) => api.audits.add(entry, origin);
    await relay(
      {
        sources: [api.accounts.organizations.outbox, api.accounts.keys.outbox],
        handlers: { audit } as OutboxHandlers,
        metrics: workMetrics(new Registry()),
        logger: createLogger('test', 'silent'),
      },
      new Date(),
    );
  };
  const log = async (key = KEYS.ours): Promise<Json[]> =>
    (await api.get(`${ACCOUNT}/audit-log?limit=200`, { key })).body.items;

  test('§5.11 an organization can read its account, and change its name and contacts', async () => {
    const { body: before } = await api.get(ACCOUNT);
    assert.deepEqual([before.id, before.name, before.is_active], [ORGANIZATIONS.ours, 'ours', true]);
    const { status, body } = await patch(ACCOUNT, { name: '  Ours  ', contact_emails: ['ads@example.com'] });
    assert.equal(status, 200);
    assert.deepEqual(body, { ...before, name: 'Ours', contact_emails: ['ads@example.com'] });
    assert.deepEqual((await patch(ACCOUNT, { name: null })).body, body);
    assert.deepEqual(itemsOf(await patch(ACCOUNT, { name: ' ', status: 'active' })).toSorted(), [
      'body.name string_pattern_mismatch',
      'body.status unexpected_field',
    ]);
    assert.equal(itemsOf(await patch(ACCOUNT, { contact_emails: ['nobody'] })).length, 1);
    assert.equal((await api.get(ACCOUNT, { key: KEYS.theirs })).body.name, 'theirs');
  });

  test('§5.12 every organization has three roles, and can create others and keys with them', async () => {
    const builtIn = (await api.get(ROLES)).body;
    assert.deepEqual(
      builtIn.map(({ name, is_system }: Json) => [name, is_system]),
      [
        ['owner', true],
        ['admin', true],
        ['member', true],
      ],
    );
    assert.deepEqual(builtIn[0].permissions, ORGANIZATION_PERMISSIONS);
    const { status, body: role } = await api.post(ROLES, { name: 'Reader', permissions: ['scans.read'] });
    assert.deepEqual([status, role.is_system, role.scope], [201, false, 'org']);
    assert.deepEqual((await api.get(ROLES)).body, [...builtIn, role]);
    assert.equal((await api.get(ROLES, { key: KEYS.theirs })).body.length, 3);
    const { body: reader } = await api.post(KEYS_PATH, { name: 'Reads', role_id: role.id });
    assert.deepEqual(reader.permissions, ['scans.read']);
    assert.equal((await api.post('/api/v1/scans', PAGE, { key: reader.full_key })).status, 403);
    assert.deepEqual(itemsOf(await api.post(KEYS_PATH, { name: 'x', role_id: role.id }, { key: KEYS.theirs })), [
      'body.role_id not_found',
    ]);
    assert.deepEqual(itemsOf(await api.post(KEYS_PATH, { name: 'x', role_id: role.id, permissions: [] })), [
      'body.role_id invalid_combination',
    ]);
    const manager = await api.keyThatMay('account.manage');
    assert.deepEqual(itemsOf(await api.post(KEYS_PATH, { name: 'x', role_id: role.id }, { key: manager })), [
      'body.role_id permission_lacking',
    ]);
    const more = { name: 'More', permissions: ['scans.read'] };
    assert.deepEqual(itemsOf(await api.post(ROLES, more, { key: manager })), ['body.permissions permission_lacking']);
  });

  test('§5.13 a PUT of the labels replaces the whole list and keeps its order', async () => {
    const team = { key: 'team', display_name: 'TEAM' };
    const labels = [team, { key: 'offer', display_name: 'What is offered', auto_extract: true }];
    const expected = labels.map((label, position) => ({ auto_extract: false, ...label, position }));
    assert.deepEqual((await put(LABELS, { labels })).body, expected);
    assert.deepEqual((await api.get(LABELS)).body, expected);
    assert.deepEqual((await api.get(LABELS, { key: KEYS.theirs })).body, []);
    const wrong = [...labels, team, { key: 'Bad', display_name: '', auto_extract: 'yes' }];
    assert.deepEqual(itemsOf(await put(LABELS, { labels: wrong })).toSorted(), [
      'body.labels.2.key duplicate_items',
      'body.labels.3.auto_extract bool_type',
      'body.labels.3.display_name string_too_short',
      'body.labels.3.key string_pattern_mismatch',
    ]);
    assert.deepEqual((await put(LABELS, { labels: [] })).body, []);
  });

  test('§5.14 the audit log records each change once, with its actor and without secrets', async () => {
    await relayAudits();
    const from = (await log()).length;
    const { body: key } = await api.post(KEYS_PATH, { name: 'Short-lived', permissions: ['scans.read'] });
    await api.call('DELETE', `${KEYS_PATH}/${key.id}`);
    await patch(`/api/v1/organizations/${ORGANIZATIONS.ours}`, { checks_per_month: 1_000 }, OPERATORS);
    await put(LABELS, { labels: [{ key: 'team', display_name: 'Team' }] });
    for (let time = 0; time < 2; time += 1) await relayAudits();
    const entries = (await log()).slice(0, -from || undefined);
    const told = entries.map(({ action, subject_id, actor, changes }) => [action, subject_id, actor.kind, changes]);
    const { ours } = ORGANIZATIONS;
    const created = { name: 'Short-lived', permissions: ['scans.read'], expires_at: null };
    assert.deepEqual(told.toSorted(), [
      ['api_key.created', key.id, 'api_key', created],
      ['api_key.revoked', key.id, 'api_key', { name: 'Short-lived' }],
      ['labels.replaced', ours, 'api_key', { labels: [{ key: 'team', display_name: 'Team' }] }],
      ['organization.changed', ours, 'operator', { checks_per_month: 1_000 }],
    ]);
    assert.ok(!JSON.stringify(await log()).includes(key.full_key));
    assert.deepEqual(await log(KEYS.theirs), []);
    const times = entries.map(({ at }) => at);
    assert.deepEqual(times, times.toSorted().toReversed());
    const { id } = (await api.post('/api/v1/organizations', { name: 'New' }, { key: OPERATORS })).body;
    await relayAudits();
    const [entry] = await api.audits.list(id, { skip: 0, limit: 1 }).then(({ rows }) => rows);
    assert.deepEqual([entry?.action, entry?.changes], ['organization.created', { name: 'New' }]);
  });

  test('§5.15 the operator reads the audit log of any organization, in pages', async () => {
    await patch(`/api/v1/organizations/${ORGANIZATIONS.theirs}`, { checks_per_month: 7 }, OPERATORS);
    await patch(ACCOUNT, { name: 'Theirs' }, KEYS.theirs);
    for (let time = 0; time < 2; time += 1) await relayAudits();
    const path = `/api/v1/organizations/${ORGANIZATIONS.theirs}/audit-log`;
    const { status, body } = await api.get(`${path}?limit=1&page=2`, { key: OPERATORS });
    assert.deepEqual([status, body.total, body.pages], [200, 2, 2]);
    const [{ action, actor, changes }] = body.items;
    assert.deepEqual([action, actor.kind, changes], ['organization.changed', 'operator', { checks_per_month: 7 }]);
    const whole = (await api.get(path, { key: OPERATORS })).body.items;
    assert.deepEqual(whole, await log(KEYS.theirs), 'the organization reads the same');
    assert.equal((await api.get(path)).status, 403);
    assert.equal((await api.get('/api/v1/organizations/none/audit-log', { key: OPERATORS })).status, 404);
    await patch(`/api/v1/organizations/${ORGANIZATIONS.theirs}`, { checks_per_month: null }, OPERATORS);
  });

  test('§5.4 every operation that creates something refuses an organization that is not active', async () => {
    const organizations = api.store.collection<OrganizationRecord>('organizations');
    const bodies: Record<string, object> = {
      '/api/v1/scans': PAGE,
      [KEYS_PATH]: { name: 'x' },
      [ROLES]: { name: 'x', permissions: [] },
      '/api/v1/custom-rules': { name: 'x', tag_slug: 'x', rule_type: 'stopword_url', config: { contains: ['x'] } },
    };
    await organizations.updateOne({ _id: ORGANIZATIONS.theirs }, { $set: { status: 'suspended' } });
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await api.post(path, body, { key: KEYS.theirs });
      assert.deepEqual([answer.status, answer.body.code], [403, 'billing.suspended'], path);
    }
    assert.equal((await api.get(KEYS_PATH, { key: KEYS.theirs })).status, 200);
    const { body } = await api.get('/api/v1/billing', { key: KEYS.theirs });
    assert.deepEqual([body.is_suspended, body.can_create_scan, body.block_reason], [true, false, 'suspended']);
    await organizations.updateOne({ _id: ORGANIZATIONS.theirs }, { $set: { status: 'active' } });
  });
});

describe('the usage of an organization', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    const on = (month: number, day: number) => new Date(Date.UTC(2026, month, day, 12));
    const book = (kind: 'charge' | 'refund', scanId: string, at: Date, targetKind: 'url' | 'ad_tag') =>
      api.ledger.book(
        scanPosting(kind, { organizationId: ORGANIZATIONS.ours, scanId }, 10, at, { targetKind, chargedAt: at }),
      );
    await book('charge', 'a', on(0, 31), 'url');
    await book('charge', 'b', on(1, 2), 'url');
    await book('charge', 'c', on(1, 2), 'ad_tag');
    await book('charge', 'd', on(1, 2), 'url');
    await book('refund', 'b', on(1, 5), 'url');
  });
  after(() => api.stop());

  test('§4.5.7 usage is listed by day and target kind, newest first, in pages', async () => {
    const { body } = await api.get(`${USAGE}?date_from=2026-01-01&date_to=2026-02-28`);
    const rows = body.items.map(({ date, kind, checks, charged_micros, refunds, refunded_micros }: Json) =>
      [date, kind, checks, charged_micros, refunds, refunded_micros].join(' '),
    );
    assert.deepEqual(rows, [
      '2026-02-05 url 0 0 1 10',
      '2026-02-02 url 2 20 0 0',
      '2026-02-02 ad_tag 1 10 0 0',
      '2026-01-31 url 1 10 0 0',
    ]);
    const february = (await api.get(`${USAGE}?date_to=2026-02-02&limit=1&page=2`)).body;
    assert.deepEqual([february.total, february.items[0].kind], [2, 'ad_tag']);
    assert.equal((await api.get(`${USAGE}?date_to=2026-02-28`, { key: KEYS.theirs })).body.total, 0);
    assert.deepEqual(itemsOf(await api.get(`${USAGE}?date_from=2026-02-02&date_to=2026-02-01`)), [
      'query.date_from invalid_combination',
    ]);
    assert.deepEqual(itemsOf(await api.get(`${USAGE}?date_from=2024-01-01&date_to=2026-02-01`)), [
      'query.date_from range_too_long',
    ]);
  });

  test('§4.5.7 balance, quota and the usage of this month are current', async () => {
    await api.store
      .collection<OrganizationRecord>('organizations')
      .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { 'quotas.checks_per_month': 2 } });
    for (const left of [1, 0]) {
      await api.post('/api/v1/scans', PAGE);
      const { body } = await api.get('/api/v1/billing');
      assert.deepEqual(
        [body.checks_per_period, body.checks_used, body.balance_micros, body.can_create_scan, body.block_reason],
        [2, 2 - left, -PRICE_MICROS * (2 - left), left > 0, left > 0 ? null : 'quota_exhausted'],
      );
      assert.deepEqual([body.billing_mode, body.price_per_extra_check_micros], ['postpaid', PRICE_MICROS]);
    }
    const scanId = 'today';
    const chargedAt = new Date();
    const of = { organizationId: ORGANIZATIONS.ours, scanId };
    await api.ledger.book(scanPosting('charge', of, 10, chargedAt, { targetKind: 'url', chargedAt }));
    const summary = async () => (await api.get('/api/v1/billing/usage/summary')).body;
    const expected = { checks: 1, rechecks: 0, within_plan: 0, overage: 1, charged_micros: 10 };
    const body = await summary();
    assert.partialDeepStrictEqual(body, expected);
    assert.ok(body.period_start <= chargedAt.toISOString() && chargedAt.toISOString() < body.period_end);
    // Checks of the month before, one of a run that was still being created, are refunded now: there they were counted.
    const counted = new Date(Date.parse(body.period_start) - 1);
    for (const [kind, id] of [
      ['refund', 'd'],
      ['charge', 'of-a-run'],
      ['refund', 'of-a-run'],
    ] as const) {
      const before = { targetKind: 'url' as const, chargedAt: counted };
      await api.ledger.book(scanPosting(kind, { ...of, scanId: id }, 10, new Date(), before));
    }
    assert.partialDeepStrictEqual(await summary(), expected);
  });
});

test('§5.12 an organization has at most 100 roles, however many are created at once', async () => {
  const api = await runningApi();
  const role = (at: number) => ({ id: `role-${at}`, name: `Role ${at}`, permissions: [] });
  await api.store
    .collection<{ _id: string }>('organizations')
    .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { roles: Array.from({ length: 98 }, (_, at) => role(at)) } });
  // All of them have read the organization before the first one is written.
  api.intercept('organizations', 'updateOne', () => setTimeout(300));
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.post(ROLES, { name: 'Reader', permissions: [] })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, ...Array(6).fill(409)]);
  assert.equal((await api.accounts.organizations.find(ORGANIZATIONS.ours))?.roles?.length, 100);
  await api.stop();
});
