import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createScansOfRuns } from '../../../src/scanning/runs/create-scans-of-runs.ts';
import { fireSchedules } from '../../../src/scanning/runs/fire-schedules.ts';
import { itemsOf, type Json, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const PATH = '/api/v1/campaigns';
const GROUPS = '/api/v1/campaign-groups';
const MINUTE_MS = 60_000;
const CAMPAIGN = { name: 'Hourly', url: 'https://shop.example/', country_codes: ['US'] };
const HOURLY = { schedule_type: 'interval', schedule_interval_seconds: 3_600 };
const FIELDS = [
  ...['schedule_type', 'schedule_weekly', 'schedule_interval_seconds', 'schedule_timezone', 'schedule_enabled'],
  ...['next_run_at', 'last_schedule_problem'],
] as const;

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

const create = async (change: object = {}): Promise<Json> => {
  const answer = await api.post(PATH, { ...CAMPAIGN, ...change });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const read = async (id: string): Promise<Json> => (await api.get(`${PATH}/${id}`)).body;
const patch = (id: string, body: object) => api.call('PATCH', `${PATH}/${id}`, { body });
const scheduleOf = (campaign: Json) => FIELDS.map((name) => campaign[name]);
const runsOf = async (id: string): Promise<Json[]> => (await api.get(`${PATH}/${id}/runs`)).body.items;
const at = (time: string | Date, laterMs = 0) => new Date(new Date(time).getTime() + laterMs);
const fire = async (now: Date): Promise<void> => {
  while (await fireSchedules(api.domains.campaigns.dependencies.firing, now));
};
const endRuns = async (id: string): Promise<void> => {
  while (await createScansOfRuns(api.domains.campaigns.dependencies.creating, new Date()));
  await api.post(`${PATH}/${id}/cancel`);
};

describe('schedules of campaigns', () => {
  test('§2.8 a campaign has a weekly plan or an interval, enabled by default, and shows when it runs next', async () => {
    assert.deepEqual(scheduleOf(await create()), [null, null, null, null, false, null, null]);
    const weekly = await create({
      ...{ schedule_type: 'weekly', schedule_weekly: { '6': [5, 3, 3], '1': [] }, schedule_timezone: 'Europe/Berlin' },
    });
    assert.deepEqual(scheduleOf(weekly).slice(0, 5), ['weekly', { '6': [3, 5] }, null, 'Europe/Berlin', true]);
    assert.equal(new Date(weekly.next_run_at).getUTCDay(), 0);
    const hourly = await create(HOURLY);
    assert.equal(hourly.next_run_at, at(hourly.created_at, 60 * MINUTE_MS).toISOString());
    assert.equal((await create({ ...HOURLY, schedule_enabled: false })).next_run_at, null);
  });

  test('§2.8 problems of a schedule are reported together', async () => {
    const refused = async (change: object) => itemsOf(await api.post(PATH, { ...CAMPAIGN, ...change })).toSorted();
    assert.deepEqual(
      await refused({ schedule_type: 'weekly', schedule_interval_seconds: 60, schedule_timezone: 'Mars/X' }),
      [
        ...['body.schedule_interval_seconds invalid_combination', 'body.schedule_timezone unknown_timezone'],
        'body.schedule_weekly missing',
      ],
    );
    assert.deepEqual(await refused({ schedule_type: 'weekly', schedule_weekly: { '0': [] } }), [
      'body.schedule_weekly invalid_combination',
    ]);
    assert.deepEqual(await refused({ schedule_enabled: true }), ['body.schedule_enabled invalid_combination']);
    assert.equal((await refused({ schedule_type: 'interval', schedule_interval_seconds: 61 })).length, 1);
    assert.equal((await refused({ schedule_type: 'weekly', schedule_weekly: { '7': [1], '0': [24] } })).length, 2);
  });

  test('§4.2.12 a change of the plan counts anew, other changes keep its grid', async () => {
    const { id, next_run_at } = await create(HOURLY);
    assert.equal((await patch(id, { name: 'Other' })).body.next_run_at, next_run_at);
    assert.equal((await patch(id, { schedule_enabled: false })).body.next_run_at, null);
    for (const change of [{ schedule_enabled: null }, { ...HOURLY, schedule_enabled: null }])
      assert.equal((await patch(id, change)).body.next_run_at, null, 'null starts no schedule that is paused');
    assert.ok((await patch(id, { schedule_enabled: true })).body.next_run_at > next_run_at, 'enabling begins a grid');
    const weekly = (await patch(id, { schedule_type: 'weekly', schedule_weekly: { '0': [1] } })).body;
    assert.deepEqual(scheduleOf(weekly).slice(0, 5), ['weekly', { '0': [1] }, null, null, true]);
    assert.deepEqual(itemsOf(await patch(id, { schedule_interval_seconds: 60 })), [
      'body.schedule_interval_seconds invalid_combination',
    ]);
    const none = (await patch(id, { schedule_type: null })).body;
    assert.deepEqual(scheduleOf(none), [null, null, null, null, false, null, null]);
    assert.equal((await patch(id, HOURLY)).body.schedule_enabled, true);
  });

  test('§2.8 two schedulers fire a moment once, with a run whose id follows from it', async () => {
    const { id, next_run_at } = await create(HOURLY);
    await fire(at(next_run_at, -1));
    assert.equal((await runsOf(id)).length, 0);
    await Promise.all([fire(at(next_run_at)), fire(at(next_run_at)), fire(at(next_run_at, 10))]);
    const [run, ...others] = await runsOf(id);
    assert.deepEqual([run.trigger, run.source, others], ['schedule', 'ui', []]);
    const campaign = await read(id);
    assert.equal(campaign.next_run_at, at(next_run_at, 60 * MINUTE_MS).toISOString());
    assert.equal(campaign.last_run_at, run.created_at);
  });

  test('§2.8 a scheduler that dies in the middle of a firing loses none and repeats none', async () => {
    const { id, next_run_at } = await create(HOURLY);
    // It dies before the run is stored, then after it.
    const death = (collection: string, method: 'insertOne' | 'updateOne') =>
      api.intercept(collection, method, () => Promise.reject(new Error('killed')));
    const lives = death('runs', 'insertOne');
    await fire(at(next_run_at));
    lives();
    assert.equal((await runsOf(id)).length, 0);
    const livesAgain = death('campaigns', 'updateOne');
    await fire(at(next_run_at, 31_000));
    livesAgain();
    await fire(at(next_run_at, 62_000));
    await fire(at(next_run_at, 93_000));
    assert.equal((await runsOf(id)).length, 1);
    assert.equal((await read(id)).next_run_at, at(next_run_at, 60 * MINUTE_MS).toISOString());
  });

  test('§2.8.9 a firing that failed is not repeated once its schedule was switched off', async () => {
    const { id, next_run_at } = await create(HOURLY);
    const mend = api.intercept('runs', 'insertOne', () => Promise.reject(new Error('the store is full')));
    await fire(at(next_run_at));
    mend();
    await patch(id, { schedule_enabled: false });
    await fire(at(next_run_at, 31_000));
    assert.deepEqual(await runsOf(id), []);
  });

  test('§2.8 after an outage of the scheduler a schedule fires once, at once, and goes on in its grid', async () => {
    const { id, next_run_at } = await create(HOURLY);
    await fire(at(next_run_at, 5.5 * 60 * MINUTE_MS));
    assert.equal((await runsOf(id)).length, 1);
    assert.equal((await read(id)).next_run_at, at(next_run_at, 6 * 60 * MINUTE_MS).toISOString());
  });

  test('§2.8 a firing is skipped while the last scheduled run has scans that wait or run, and says so', async () => {
    const { id, next_run_at } = await create(HOURLY);
    await fire(at(next_run_at));
    await fire(at(next_run_at, 60 * MINUTE_MS));
    const { code, detail } = (await read(id)).last_schedule_problem;
    assert.deepEqual([code, typeof detail, (await runsOf(id)).length], ['overlap', 'string', 1]);
    await endRuns(id);
    await fire(at(next_run_at, 120 * MINUTE_MS));
    assert.deepEqual([(await read(id)).last_schedule_problem, (await runsOf(id)).length], [null, 2]);
  });

  test('§2.8 paused groups and archived campaigns do not fire, and go on in their grid afterwards', async () => {
    const { id: group_id } = (await api.post(GROUPS, { name: 'Paused' })).body;
    const [paused, archived, taken] = [
      await create({ ...HOURLY, group_id }),
      await create(HOURLY),
      await create({ ...HOURLY, group_id }),
    ];
    const hour = 60 * MINUTE_MS;
    await api.post(`${GROUPS}/${group_id}/pause-schedule`);
    assert.equal((await api.post(`${PATH}/${archived.id}/archive`)).body.next_run_at, null);
    await fire(at(taken.next_run_at, 1.5 * hour));
    assert.deepEqual([await runsOf(paused.id), await runsOf(archived.id)], [[], []]);
    assert.equal((await read(paused.id)).next_run_at, at(paused.next_run_at, 2 * hour).toISOString());
    await api.post(`${GROUPS}/${group_id}/archive`);
    assert.equal((await read(taken.id)).next_run_at, null);
    await api.post(`${GROUPS}/${group_id}/unarchive`);
    await api.post(`${GROUPS}/${group_id}/resume-schedule`);
    await api.post(`${PATH}/${archived.id}/unarchive`);
    for (const { id, next_run_at } of [paused, archived, taken])
      assert.equal((await read(id)).next_run_at, next_run_at, 'the grid since it was enabled');
    await fire(at(taken.next_run_at, 3 * hour));
    for (const { id } of [paused, archived, taken]) assert.equal((await runsOf(id)).length, 1);
  });

  test('§2.8 what an organization may not run is recorded as the problem of its schedule', async () => {
    const { id, next_run_at } = await create(HOURLY);
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { status: 'suspended' });
    await fire(at(next_run_at));
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { status: 'active' });
    const { code, at: when } = (await read(id)).last_schedule_problem;
    assert.deepEqual([code, when, (await runsOf(id)).length], ['billing.suspended', next_run_at, 0]);
    await fire(at(next_run_at, 60 * MINUTE_MS));
    assert.deepEqual([(await read(id)).last_schedule_problem, (await runsOf(id)).length], [null, 1]);
    assert.match(await api.registry.metrics(), /adsweep_schedule_firings_total\{[^}]*outcome="refused"[^}]*\} 1/);
    assert.equal((await api.get(`${PATH}/${id}`, { key: KEYS.theirs })).status, 404);
  });
});
