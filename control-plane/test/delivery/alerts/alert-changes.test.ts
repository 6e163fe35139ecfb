import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AlertRecord } from '../../../src/delivery/alerts/alert.ts';
import { type AlertStore, alertStore } from '../../../src/delivery/alerts/alert-store.ts';
import { changeMatching } from '../../../src/delivery/alerts/change-alerts.ts';
import { ALERT_STATUSES, type AlertStatus } from '../../../src/platform/outbox/outbox-entry.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';
import { ALERTS, alertCalls, alertOf } from '../../support/alert-calls.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

let api: RunningApi;
const { add, patch, read, totalOf } = alertCalls(() => api);
before(async () => {
  api = await runningApi();
  for (const status of ALERT_STATUSES)
    for (const country_code of ['JP', 'US']) await add({ status, country_code, tag_slug: 'back_button' });
  await add({}, ORGANIZATIONS.theirs);
});
after(() => api.stop());

describe('changes of alerts', () => {
  test('§4.5.31 an alert goes from one status to another as the table allows, and nowhere else', async () => {
    const allowed: Record<AlertStatus, AlertStatus[]> = {
      ...{ open: ['escalated', 'resolved', 'dismissed'], escalated: ['resolved', 'dismissed'] },
      ...{ resolved: ['open'], dismissed: ['open'] },
    };
    for (const from of ALERT_STATUSES)
      for (const to of ALERT_STATUSES) {
        const { _id } = await add({ status: from });
        const answer = await patch(_id, to);
        if (from === to || allowed[from].includes(to)) assert.equal(answer.status, 204, `${from} ${to}`);
        else {
          assert.equal(answer.status, 422);
          assert.equal(answer.body.code, 'alerts.transition_not_allowed');
        }
        const alert = await read(_id);
        assert.equal(alert.status, answer.status === 204 ? to : from);
        assert.equal(alert.updated_at === null, from === to || answer.status !== 204);
      }
  });

  test('§4.5.32 closed_by is the key that closed an alert, until it is reopened; each change is in the outbox once', async () => {
    const { _id } = await add();
    await patch(_id, 'resolved');
    const { closed_by } = await read(_id);
    assert.ok(typeof closed_by === 'string' && closed_by.length > 0);
    await patch(_id, 'resolved');
    await patch(_id, 'open');
    assert.equal((await read(_id)).closed_by, null);
    const other = await add();
    await patch(other._id, 'escalated');
    assert.equal((await read(other._id)).closed_by, null);
    await patch(other._id, 'dismissed');
    assert.equal((await read(other._id)).closed_by, closed_by);
    const record = await api.store.collection<AlertRecord>('alerts').findOne({ _id });
    assert.deepEqual(
      record!.outbox.map((entry) => entry.kind === 'alert.changed' && `${entry.sequence} ${entry.status}`),
      ['0 open', '1 resolved', '2 open'],
    );
  });

  test('§4.5.34 a bulk change takes ids or all_matching, and filters with all_matching alone', async () => {
    const bulk = async (body: object) =>
      itemsOf(await api.post(`${ALERTS}/bulk-status`, { status: 'resolved', ...body }));
    assert.deepEqual(await bulk({}), ['body.ids missing']);
    assert.deepEqual(await bulk({ ids: ['a'], all_matching: true }), ['body.ids invalid_combination']);
    const filters = {
      ...{ filter_status: 'open', filter_campaign_id: 'a', filter_policy_set_ids: ['a'], filter_tag_slugs: ['a'] },
      ...{ filter_country_codes: ['US'], filter_timezone: 'UTC' },
    };
    for (const [field, value] of Object.entries(filters))
      assert.deepEqual(await bulk({ ids: ['a'], [field]: value }), [`body.${field} invalid_combination`]);
    assert.deepEqual(await bulk({ all_matching: true, filter_date_from: '2026-01-01' }), [
      'body.filter_timezone missing',
    ]);
    for (const field of ['filter_policy_set_ids', 'filter_tag_slugs', 'filter_country_codes'])
      assert.equal((await bulk({ all_matching: true, [field]: [] })).length, 1, field);
    const range = { filter_date_from: '2024-01-01', filter_date_to: '2026-01-01', filter_timezone: 'UTC' };
    assert.deepEqual(await bulk({ all_matching: true, ...range }), ['body.filter_date_to range_too_long']);
  });

  test('are raised and changed in portions, so that a thousand of them do not keep other requests waiting', async () => {
    const store = await openStore({ path: ':memory:' });
    const sizes: number[] = [];
    const counted = (name: string) =>
      new Proxy(store.collection(name), {
        get: (target, key: 'insertMany') => {
          const method = target[key].bind(target) as (items: object[], options?: object) => unknown;
          if (!['insertMany', 'bulkWrite'].includes(key)) return method;
          return (items: object[], options?: object) => {
            sizes.push(items.length);
            return method(items, options);
          };
        },
      });
    const alerts = alertStore({ ...store, collection: counted as Store['collection'] });
    const all = Array.from({ length: 60 }, () => alertOf());
    await alerts.add(all);
    assert.equal(await alerts.changeAll(all, { status: 'resolved', keyId: 'key', now: new Date() }), all.length);
    assert.deepEqual(sizes, [25, 25, 10, 25, 25, 10]);
    await store.close();
  });

  test('§4.5.35 a bulk change skips what has the status or cannot get it, and alerts of other organizations', async () => {
    const named = [await add(), await add({ status: 'escalated' }), await add({ status: 'dismissed' })];
    const theirs = await add({}, ORGANIZATIONS.theirs);
    const ids = [...named, theirs].map(({ _id }) => _id);
    const answer = await api.post(`${ALERTS}/bulk-status`, { status: 'resolved', ids });
    assert.deepEqual(answer.body, { updated: 2, skipped: 2, remaining: 0 });
    assert.equal((await api.get(`${ALERTS}/${theirs._id}`, { key: KEYS.theirs })).body.status, 'open');
    const matching = { all_matching: true, filter_country_codes: ['jp'], filter_tag_slugs: ['back_button'] };
    const before = (await api.get(`${ALERTS}/stats?country_code=JP&tag=back_button`)).body;
    const all = await api.post(`${ALERTS}/bulk-status`, { status: 'dismissed', ...matching });
    const { open, escalated, resolved, dismissed } = before;
    assert.deepEqual(all.body, { updated: open + escalated, skipped: resolved + dismissed, remaining: 0 });
    assert.deepEqual((await api.get(`${ALERTS}/stats?country_code=JP&tag=back_button`)).body, {
      ...{ open: 0, escalated: 0, resolved, dismissed: open + escalated + dismissed },
    });
  });

  test('§4.5.34 a bulk change without a filter takes every alert, and filter_tag_slugs takes the keys of other entries', async () => {
    const key = KEYS.theirs;
    await add({ tag_slug: 'brand:Acme' }, ORGANIZATIONS.theirs);
    const acme = await totalOf('tag=brand:Acme&status=open', key);
    const change = async (body: object) => (await api.post(`${ALERTS}/bulk-status`, body, { key })).body;
    const byKey = { status: 'escalated', all_matching: true, filter_tag_slugs: ['brand:Acme'] };
    assert.deepEqual(await change(byKey), { updated: acme, skipped: 0, remaining: 0 });
    const { open, escalated, resolved, dismissed } = (await api.get(`${ALERTS}/stats`, { key })).body;
    assert.ok(acme > 0 && open > 0, `${acme} and ${open}`);
    assert.deepEqual(await change({ status: 'resolved', all_matching: true }), {
      ...{ updated: open + escalated, skipped: resolved + dismissed, remaining: 0 },
    });
    assert.equal(await totalOf('status=open,escalated', key), 0);
  });

  test('§4.5.36 a bulk change takes the oldest alerts up to its bound, and says how many remain', async () => {
    const start = Date.UTC(2020, 0, 1);
    const many = Array.from({ length: 250 }, (_, n) =>
      alertOf({ campaign_id: 'large', created_at: new Date(start + n * 1_000) }),
    );
    const { alerts } = api.domains.delivery.stores;
    await alerts.add(many);
    const filter = { statuses: ALERT_STATUSES, campaign_id: ['large'] };
    const write = { status: 'resolved' as const, keyId: 'key', now: new Date() };
    const first = await changeMatching(alerts, ORGANIZATIONS.ours, filter, write, 200);
    assert.deepEqual(first, { updated: 200, skipped: 0, remaining: 50 });
    const { items } = (await api.get(`${ALERTS}?campaign_id=large&status=open&limit=50`)).body;
    assert.deepEqual(new Set(items.map(({ id }: Json) => id)), new Set(many.slice(-50).map(({ _id }) => _id)));
    const body = { status: 'resolved', all_matching: true, filter_campaign_id: 'large' };
    const rest = await api.post(`${ALERTS}/bulk-status`, body);
    assert.deepEqual(rest.body, { updated: 50, skipped: 200, remaining: 0 });
  });

  test('§4.5.36 one call changes 10,000 alerts at most', async () => {
    let open = 10_001;
    const one = alertOf();
    const write = { status: 'resolved' as const, keyId: 'key', now: new Date() };
    const alerts = {
      count: async (_organizationId: string, _filter: object, statuses: readonly AlertStatus[]) =>
        statuses.includes('open') ? open : 0,
      oldest: async (...[, , , limit]: Parameters<AlertStore['oldest']>) => Array(Math.min(limit, open)).fill(one),
      changeAll: async (found: AlertRecord[]) => {
        open -= found.length;
        return found.length;
      },
    };
    const done = await changeMatching(alerts, ORGANIZATIONS.ours, { statuses: ALERT_STATUSES }, write);
    assert.deepEqual(done, { updated: 10_000, skipped: 0, remaining: 1 });
  });
});
