import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { type AlertRecord, newAlerts } from '../../../src/delivery/alerts/alert.ts';
import { type AlertStore, alertStore } from '../../../src/delivery/alerts/alert-store.ts';
import { changeMatching } from '../../../src/delivery/alerts/change-alerts.ts';
import { ALERT_STATUSES, type AlertedScan, type AlertStatus } from '../../../src/platform/outbox/outbox-entry.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';
import { policySetOf } from '../../support/bound-campaign.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/alerts';
const ALERTS = 1_500;
const COMBINATIONS = Number(process.env.ADSWEEP_TEST_RUNS ?? 100);
const CAMPAIGNS = ['campaign-1', 'campaign-2', 'campaign-3'];
const TAGS = ['autosound', 'back_button', 'popup_bomb', 'brand:Acme'];
const COUNTRIES = ['US', 'DE', 'PT', 'BR', 'JP'];
const SETS = ['set-1', 'set-2'];

let api: RunningApi;
let stored: AlertRecord[];
const random = seededRandom(7);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

function alertOf(
  changes: Partial<AlertRecord> = {},
  organizationId = ORGANIZATIONS.ours,
  urls: Partial<AlertedScan> = {},
): AlertRecord {
  const { tag_slug = 'autosound', scan_id = newId(), created_at: at = new Date() } = changes;
  const { campaign_id = 'campaign-1', policy_set_id = 'set-1', country_code = 'US', entry_id = newId() } = changes;
  const about = { policy_set_id, policy_set_name: 'Set', campaign_id, country_code, emulator_id: 'windows_chrome' };
  const scan = {
    ...about,
    labels: {},
    scan_url: 'https://shop.example/',
    offer_url: '',
    report_token: newId(),
    ...urls,
  };
  const rule_type = tag_slug.startsWith('brand:') ? ('brand' as const) : ('tag' as const);
  const names = { tag_slug, tag_display_name: tag_slug, severity: null };
  const violation = { entry_id, rule_type, ...names, matched_value: rule_type === 'brand' ? 'Acme' : null };
  const origin = { organizationId, scanId: scan_id, campaignId: campaign_id };
  const [alert] = newAlerts({ id: 'a', kind: 'alerts', at, scan, violations: [violation] }, origin);
  return { ...alert!, ...changes };
}

const add = async (
  changes: Partial<AlertRecord> = {},
  organizationId?: string,
  urls?: Partial<AlertedScan>,
): Promise<AlertRecord> => {
  const alert = alertOf(changes, organizationId, urls);
  await api.domains.delivery.stores.alerts.add([alert]);
  return alert;
};
const patch = (id: string, status: string, key?: string) =>
  api.call('PATCH', `${PATH}/${id}/status`, { body: { status }, ...(key && { key }) });
const read = async (id: string): Promise<Json> => (await api.get(`${PATH}/${id}`)).body;
const totalOf = async (query: string, key?: string): Promise<number> =>
  (await api.get(`${PATH}?${query}`, key ? { key } : {})).body.total;

before(async () => {
  api = await runningApi();
  stored = Array.from({ length: ALERTS }, () =>
    alertOf({
      ...{ campaign_id: pick(CAMPAIGNS), tag_slug: pick(TAGS), country_code: pick(COUNTRIES) },
      ...{ policy_set_id: pick(SETS), status: pick(ALERT_STATUSES) },
      created_at: new Date(Date.UTC(2026, 2, 1) + Math.floor(random() * 40 * 24) * 3_600_000),
    }),
  );
  await api.domains.delivery.stores.alerts.add(stored);
  await add({ campaign_id: 'campaign-1' }, ORGANIZATIONS.theirs);
});
after(() => api.stop());

describe('alerts', () => {
  test(
    '§4.5.30 the four counts of the statistics are the total of the list, for random combinations of filters',
    slow,
    async () => {
      const some = <T>(values: readonly T[]): T[] => values.filter(() => random() < 0.4);
      const day = () =>
        new Date(Date.UTC(2026, 1, 25) + Math.floor(random() * 50) * 86_400_000).toISOString().slice(0, 10);
      const localDays = new Map(
        ['UTC', 'America/Los_Angeles', 'Asia/Kathmandu'].map((timeZone) => {
          const day = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
          return [timeZone, stored.map(({ created_at }) => day.format(created_at))];
        }),
      );
      for (let n = 0; n < COMBINATIONS; n++) {
        const lists = { policy_set_id: some(SETS), tag: some(TAGS), country_code: some(COUNTRIES) };
        const statuses = some(ALERT_STATUSES);
        const campaign = random() < 0.4 ? pick(CAMPAIGNS) : null;
        const [first, last] = [day(), day()].sort();
        const timezone = pick([...localDays.keys()]);
        const days = { date_from: random() < 0.4 ? first : undefined, date_to: random() < 0.4 ? last : undefined };
        const query = new URLSearchParams();
        for (const [name, values] of Object.entries(lists)) if (values.length > 0) query.set(name, values.join(','));
        if (campaign) query.set('campaign_id', campaign);
        for (const [name, value] of Object.entries(days)) if (value) query.set(name, value);
        // Without a timezone days are those of UTC.
        if (timezone !== 'UTC') query.set('timezone', timezone);
        const matches = stored.filter((alert, at) => {
          const on = localDays.get(timezone)![at]!;
          return (
            (lists.policy_set_id.length === 0 || lists.policy_set_id.includes(alert.policy_set_id)) &&
            (lists.tag.length === 0 || lists.tag.includes(alert.tag_slug)) &&
            (lists.country_code.length === 0 || lists.country_code.includes(alert.country_code)) &&
            (campaign === null || alert.campaign_id === campaign) &&
            (days.date_from === undefined || on >= days.date_from) &&
            (days.date_to === undefined || on <= days.date_to)
          );
        });
        const expected = Object.fromEntries(
          ALERT_STATUSES.map((status) => [status, matches.filter((alert) => alert.status === status).length]),
        );
        const [stats, list] = await Promise.all([
          api.get(`${PATH}/stats?${query}`),
          api.get(`${PATH}?limit=3&${query}`),
        ]);
        if (statuses.length > 0) {
          const some = await totalOf(`status=${statuses}&${query}`);
          assert.equal(some, matches.filter(({ status }) => statuses.includes(status)).length, `${statuses} ${query}`);
        }
        assert.deepEqual(stats.body, expected, query.toString());
        assert.equal(list.body.total, matches.length, query.toString());
        const newest = matches.toSorted(
          (one, other) => Number(other.created_at) - Number(one.created_at) || (one._id < other._id ? 1 : -1),
        );
        const ids = list.body.items.map(({ id }: Json) => id);
        assert.deepEqual(
          ids,
          newest.slice(0, 3).map(({ _id }) => _id),
        );
      }
    },
  );

  test('§4.5.39 cursors lead through all alerts of a filter although each leaves it as soon as it is read', async () => {
    const campaign_id = newId();
    const at = new Date();
    for (let n = 0; n < 7; n++) await add({ campaign_id, created_at: new Date(at.getTime() - Math.floor(n / 3)) });
    const read: string[] = [];
    const path = `${PATH}?limit=2&status=open,escalated&campaign_id=${campaign_id}`;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body }: { status: number; body: Json } = await api.get(
        cursor ? `${path}&cursor=${cursor}` : path,
      );
      assert.deepEqual([status, body.total], [200, 7 - read.length]);
      for (const { id } of body.items) {
        read.push(id);
        assert.equal((await patch(id, 'resolved')).status, 204);
      }
      cursor = body.next_cursor ?? null;
    }
    assert.equal(new Set(read).size, 7);
    assert.deepEqual(itemsOf(await api.get(`${PATH}?cursor=x`)), ['query.cursor invalid_cursor']);
    const first = (await api.get(`${PATH}?limit=2`)).body.next_cursor;
    assert.deepEqual(itemsOf(await api.get(`${PATH}?cursor=${first}&page=2`)), ['query.page invalid_combination']);
    assert.equal((await api.get(`${PATH}?cursor=${first}&limit=1`)).status, 200);
    for (const [query, key] of [
      [`cursor=${first}`, KEYS.theirs],
      [`cursor=${first}&status=open`, KEYS.ours],
    ])
      assert.deepEqual(itemsOf(await api.get(`${PATH}?${query}`, { key: key! })), ['query.cursor invalid_cursor']);
  });

  test('§4.5.38 an alert has the first 2,048 characters of the URLs of its scan', async () => {
    const long = `https://shop.example/?${'q=1&'.repeat(4_000)}`;
    const [{ _id }, { _id: other }] = [
      await add({}, undefined, { scan_url: long, offer_url: `${long}#` }),
      await add(),
    ];
    const { scan_url, offer_url } = await read(_id);
    assert.deepEqual([scan_url, offer_url], [long.slice(0, 2_048), long.slice(0, 2_048)]);
    assert.equal((await read(other)).scan_url, 'https://shop.example/');
  });

  test('§4.5.30 the alerts of a scan are listed, counted and changed alone, together with other filters too', async () => {
    const scan_id = newId();
    const [first, second] = [await add({ scan_id }), await add({ scan_id, country_code: 'PT' })];
    const theirs = await add({ scan_id }, ORGANIZATIONS.theirs);
    const listed = async (query: string) =>
      (await api.get(`${PATH}?scan_id=${scan_id}${query}`)).body.items.map(({ id }: Json) => id);
    assert.deepEqual((await listed('')).toSorted(), [first._id, second._id].toSorted());
    assert.deepEqual(await listed('&country_code=PT&status=open'), [second._id]);
    assert.deepEqual(await listed('&campaign_id=campaign-2'), []);
    assert.equal((await api.get(`${PATH}/stats?scan_id=${scan_id}`)).body.open, 2);
    const body = { status: 'resolved', all_matching: true, filter_scan_id: scan_id };
    assert.equal((await api.post(`${PATH}/bulk-status`, body)).body.updated, 2);
    assert.equal((await api.get(`${PATH}/${theirs._id}`, { key: KEYS.theirs })).body.status, 'open');
  });

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

  test('§4.5.33 unknown statuses and timezones, days in the wrong order and ranges over 366 days are refused', async () => {
    const refusals: [query: string, problems: string[]][] = [
      ['status=open,new', ['query.status enum']],
      ['timezone=Mars', ['query.timezone unknown_timezone']],
      ['date_from=2026-03-02&date_to=2026-03-01', ['query.date_from invalid_combination']],
      ['date_from=2025-03-01&date_to=2026-03-02', ['query.date_to range_too_long']],
      ['colour=red', ['query.colour unexpected_field']],
    ];
    for (const [query, problems] of refusals) {
      const answer = await api.get(`${PATH}?${query}`);
      assert.equal(answer.status, 422, query);
      assert.deepEqual(itemsOf(answer), problems);
    }
    assert.equal((await api.get(`${PATH}?date_from=2025-03-01&date_to=2026-03-01`)).status, 200);
    assert.equal((await api.get(`${PATH}?date_from=1990-03-01`)).status, 200);
    assert.equal((await api.get(`${PATH}/stats?status=open`)).status, 422);
  });

  test('§4.5.34 a bulk change takes ids or all_matching, and filters with all_matching alone', async () => {
    const bulk = async (body: object) =>
      itemsOf(await api.post(`${PATH}/bulk-status`, { status: 'resolved', ...body }));
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
    const answer = await api.post(`${PATH}/bulk-status`, { status: 'resolved', ids });
    assert.deepEqual(answer.body, { updated: 2, skipped: 2, remaining: 0 });
    assert.equal((await api.get(`${PATH}/${theirs._id}`, { key: KEYS.theirs })).body.status, 'open');
    const matching = { all_matching: true, filter_country_codes: ['jp'], filter_tag_slugs: ['back_button'] };
    const before = (await api.get(`${PATH}/stats?country_code=JP&tag=back_button`)).body;
    const all = await api.post(`${PATH}/bulk-status`, { status: 'dismissed', ...matching });
    const { open, escalated, resolved, dismissed } = before;
    assert.deepEqual(all.body, { updated: open + escalated, skipped: resolved + dismissed, remaining: 0 });
    assert.deepEqual((await api.get(`${PATH}/stats?country_code=JP&tag=back_button`)).body, {
      ...{ open: 0, escalated: 0, resolved, dismissed: open + escalated + dismissed },
    });
  });

  test('§4.5.34 a bulk change without a filter takes every alert, and filter_tag_slugs takes the keys of other entries', async () => {
    const key = KEYS.theirs;
    await add({ tag_slug: 'brand:Acme' }, ORGANIZATIONS.theirs);
    const acme = await totalOf('tag=brand:Acme&status=open', key);
    const change = async (body: object) => (await api.post(`${PATH}/bulk-status`, body, { key })).body;
    const byKey = { status: 'escalated', all_matching: true, filter_tag_slugs: ['brand:Acme'] };
    assert.deepEqual(await change(byKey), { updated: acme, skipped: 0, remaining: 0 });
    const { open, escalated, resolved, dismissed } = (await api.get(`${PATH}/stats`, { key })).body;
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
    const { items } = (await api.get(`${PATH}?campaign_id=large&status=open&limit=50`)).body;
    assert.deepEqual(new Set(items.map(({ id }: Json) => id)), new Set(many.slice(-50).map(({ _id }) => _id)));
    const body = { status: 'resolved', all_matching: true, filter_campaign_id: 'large' };
    const rest = await api.post(`${PATH}/bulk-status`, body);
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

  test('§4.5.37 of an alert on a hidden tag of the platform organizations see that there is one, and cannot search for it', async () => {
    const tag = { slug: 'secret_list', category: 'security', severity: 'high' as const, visibility: 'hidden' as const };
    const words = { display_name: 'Secret list', description: '', organization_id: null, archived_at: null };
    await api.tags.register([{ ...tag, ...words }], new Date());
    const { _id } = await add({ tag_slug: 'secret_list', campaign_id: 'with-hidden' });
    const { tag_slug, tag_display_name, matched_value } = await read(_id);
    assert.deepEqual([tag_slug, tag_display_name, matched_value], ['hidden', 'Hidden tag', null]);
    const listed = await api.get(`${PATH}?campaign_id=with-hidden`);
    assert.equal(listed.body.total, 1);
    assert.ok(!listed.text.includes('ecret'), 'the list names the hidden tag');
    assert.equal(await totalOf('tag=secret_list'), 0);
    assert.equal(await totalOf('tag=hidden'), 0);
    const bulk = { status: 'resolved', all_matching: true, filter_tag_slugs: ['secret_list'] };
    assert.deepEqual((await api.post(`${PATH}/bulk-status`, bulk)).body, { updated: 0, skipped: 0, remaining: 0 });
  });

  test('§2.5.2 alerts on a tag that was archived afterwards stay in lists and counts; a filter by it matches nothing', async () => {
    await api.tags.register(
      [
        {
          ...{ slug: 'own_tag', category: 'custom', severity: 'low', visibility: 'internal', display_name: 'Own' },
          ...{ description: '', organization_id: ORGANIZATIONS.ours, archived_at: null },
        },
      ],
      new Date(),
    );
    await add({ tag_slug: 'own_tag', campaign_id: 'with-own' });
    assert.equal(await totalOf('tag=own_tag'), 1);
    assert.equal((await api.post('/api/v1/tag-definitions/own_tag/archive')).status, 204);
    assert.equal(await totalOf('tag=own_tag'), 0);
    const bulk = { status: 'resolved', all_matching: true, filter_tag_slugs: ['own_tag'] };
    assert.equal((await api.post(`${PATH}/bulk-status`, bulk)).body.updated, 0);
    assert.equal(await totalOf('campaign_id=with-own'), 1);
    assert.equal((await api.get(`${PATH}/stats?campaign_id=with-own`)).body.open, 1);
  });

  test('§2.8.14 an alert names its policy set as long as that exists', async () => {
    const set = policySetOf(ORGANIZATIONS.ours, [{ rule_type: 'tag', tag_slug: 'autosound' }]);
    await api.domains.analysis.stores.policySets.insert(set);
    const { _id } = await add({ policy_set_id: set._id });
    const named = await read(_id);
    assert.deepEqual([named.policy_set_id, named.policy_set_name], [set._id, 'Brand safety']);
    await api.domains.analysis.stores.policySets.remove(set);
    const later = await read(_id);
    assert.deepEqual([later.policy_set_id, later.policy_set_name, later.tag_slug], [null, null, 'autosound']);
  });

  test('§5.2 §5.3 alerts are read with alerts.read and changed with alerts.manage, each by its own organization', async () => {
    const { _id } = await add();
    assert.equal((await api.get(`${PATH}/${_id}`, { key: KEYS.theirs })).status, 404);
    assert.equal((await patch(_id, 'resolved', KEYS.theirs)).status, 404);
    const [reader, manager] = [await api.keyThatMay('alerts.read'), await api.keyThatMay('alerts.manage')];
    for (const path of [PATH, `${PATH}/stats`, `${PATH}/${_id}`]) {
      assert.equal((await api.get(path, { key: reader })).status, 200, path);
      assert.equal((await api.get(path, { key: manager })).status, 403, path);
    }
    assert.equal((await patch(_id, 'escalated', reader)).status, 403);
    const bulk = { status: 'resolved', ids: [_id] };
    assert.equal((await api.post(`${PATH}/bulk-status`, bulk, { key: reader })).status, 403);
    assert.deepEqual((await api.post(`${PATH}/bulk-status`, bulk, { key: KEYS.theirs })).body, {
      ...{ updated: 0, skipped: 1, remaining: 0 },
    });
    assert.equal((await patch(_id, 'escalated', manager)).status, 204);
    const theirs = (await api.get(`${PATH}?limit=200`, { key: KEYS.theirs })).body.items;
    assert.ok(theirs.every(({ organization_id }: Json) => organization_id === ORGANIZATIONS.theirs));
  });
});
