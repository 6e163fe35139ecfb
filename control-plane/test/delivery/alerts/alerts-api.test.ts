import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import type { AlertRecord } from '../../../src/delivery/alerts/alert.ts';
import { ALERT_STATUSES } from '../../../src/platform/outbox/outbox-entry.ts';
import { ALERTS, alertCalls, alertOf } from '../../support/alert-calls.ts';
import { policySetOf } from '../../support/bound-campaign.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const STORED = 1_500;
const COMBINATIONS = Number(process.env.ADSWEEP_TEST_RUNS ?? 100);
const CAMPAIGNS = ['campaign-1', 'campaign-2', 'campaign-3'];
const TAGS = ['autosound', 'back_button', 'popup_bomb', 'brand:Acme'];
const COUNTRIES = ['US', 'DE', 'PT', 'BR', 'JP'];
const SETS = ['set-1', 'set-2'];

let api: RunningApi;
let stored: AlertRecord[];
const random = seededRandom(7);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

const { add, patch, read, totalOf } = alertCalls(() => api);

before(async () => {
  api = await runningApi();
  stored = Array.from({ length: STORED }, () =>
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
          api.get(`${ALERTS}/stats?${query}`),
          api.get(`${ALERTS}?limit=3&${query}`),
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
    const path = `${ALERTS}?limit=2&status=open,escalated&campaign_id=${campaign_id}`;
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
    assert.deepEqual(itemsOf(await api.get(`${ALERTS}?cursor=x`)), ['query.cursor invalid_cursor']);
    const first = (await api.get(`${ALERTS}?limit=2`)).body.next_cursor;
    assert.deepEqual(itemsOf(await api.get(`${ALERTS}?cursor=${first}&page=2`)), ['query.page invalid_combination']);
    assert.equal((await api.get(`${ALERTS}?cursor=${first}&limit=1`)).status, 200);
    for (const [query, key] of [
      [`cursor=${first}`, KEYS.theirs],
      [`cursor=${first}&status=open`, KEYS.ours],
    ])
      assert.deepEqual(itemsOf(await api.get(`${ALERTS}?${query}`, { key: key! })), ['query.cursor invalid_cursor']);
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
      (await api.get(`${ALERTS}?scan_id=${scan_id}${query}`)).body.items.map(({ id }: Json) => id);
    assert.deepEqual((await listed('')).toSorted(), [first._id, second._id].toSorted());
    assert.deepEqual(await listed('&country_code=PT&status=open'), [second._id]);
    assert.deepEqual(await listed('&campaign_id=campaign-2'), []);
    assert.equal((await api.get(`${ALERTS}/stats?scan_id=${scan_id}`)).body.open, 2);
    const body = { status: 'resolved', all_matching: true, filter_scan_id: scan_id };
    assert.equal((await api.post(`${ALERTS}/bulk-status`, body)).body.updated, 2);
    assert.equal((await api.get(`${ALERTS}/${theirs._id}`, { key: KEYS.theirs })).body.status, 'open');
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
      const answer = await api.get(`${ALERTS}?${query}`);
      assert.equal(answer.status, 422, query);
      assert.deepEqual(itemsOf(answer), problems);
    }
    assert.equal((await api.get(`${ALERTS}?date_from=2025-03-01&date_to=2026-03-01`)).status, 200);
    assert.equal((await api.get(`${ALERTS}?date_from=1990-03-01`)).status, 200);
    assert.equal((await api.get(`${ALERTS}/stats?status=open`)).status, 422);
  });

  test('§4.5.37 of an alert on a hidden tag of the platform organizations see that there is one, and cannot search for it', async () => {
    const tag = { slug: 'secret_list', category: 'security', severity: 'high' as const, visibility: 'hidden' as const };
    const words = { display_name: 'Secret list', description: '', organization_id: null, archived_at: null };
    await api.tags.register([{ ...tag, ...words }], new Date());
    const { _id } = await add({ tag_slug: 'secret_list', campaign_id: 'with-hidden' });
    const { tag_slug, tag_display_name, matched_value } = await read(_id);
    assert.deepEqual([tag_slug, tag_display_name, matched_value], ['hidden', 'Hidden tag', null]);
    const listed = await api.get(`${ALERTS}?campaign_id=with-hidden`);
    assert.equal(listed.body.total, 1);
    assert.ok(!listed.text.includes('ecret'), 'the list names the hidden tag');
    assert.equal(await totalOf('tag=secret_list'), 0);
    assert.equal(await totalOf('tag=hidden'), 0);
    const bulk = { status: 'resolved', all_matching: true, filter_tag_slugs: ['secret_list'] };
    assert.deepEqual((await api.post(`${ALERTS}/bulk-status`, bulk)).body, { updated: 0, skipped: 0, remaining: 0 });
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
    assert.equal((await api.post(`${ALERTS}/bulk-status`, bulk)).body.updated, 0);
    assert.equal(await totalOf('campaign_id=with-own'), 1);
    assert.equal((await api.get(`${ALERTS}/stats?campaign_id=with-own`)).body.open, 1);
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
    assert.equal((await api.get(`${ALERTS}/${_id}`, { key: KEYS.theirs })).status, 404);
    assert.equal((await patch(_id, 'resolved', KEYS.theirs)).status, 404);
    const [reader, manager] = [await api.keyThatMay('alerts.read'), await api.keyThatMay('alerts.manage')];
    for (const path of [ALERTS, `${ALERTS}/stats`, `${ALERTS}/${_id}`]) {
      assert.equal((await api.get(path, { key: reader })).status, 200, path);
      assert.equal((await api.get(path, { key: manager })).status, 403, path);
    }
    assert.equal((await patch(_id, 'escalated', reader)).status, 403);
    const bulk = { status: 'resolved', ids: [_id] };
    assert.equal((await api.post(`${ALERTS}/bulk-status`, bulk, { key: reader })).status, 403);
    assert.deepEqual((await api.post(`${ALERTS}/bulk-status`, bulk, { key: KEYS.theirs })).body, {
      ...{ updated: 0, skipped: 1, remaining: 0 },
    });
    assert.equal((await patch(_id, 'escalated', manager)).status, 204);
    const theirs = (await api.get(`${ALERTS}?limit=200`, { key: KEYS.theirs })).body.items;
    assert.ok(theirs.every(({ organization_id }: Json) => organization_id === ORGANIZATIONS.theirs));
  });
});
