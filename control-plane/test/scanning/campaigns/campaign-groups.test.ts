import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CAMPAIGN, CAMPAIGNS, campaignCalls, GROUPS } from '../../support/campaign-calls.ts';
import { type Json, KEYS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';

let api: RunningApi;
before(async () => {
  api = await runningApi();
});
after(() => api.stop());

const { create, patch, newGroup, namesOf } = campaignCalls(() => api);

describe('campaign groups', () => {
  test('§2.8 every organization has a default group, which can be renamed but not archived', async () => {
    const [group] = (await api.get(GROUPS, { key: KEYS.theirs })).body;
    assert.deepEqual([group.is_default, group.campaign_count, group.last_run_at], [true, 0, null]);
    const of = (method: string, below: string, body?: object) =>
      api.call(method, `${GROUPS}/${group.id}${below}`, { key: KEYS.theirs, ...(body && { body }) });
    assert.equal((await of('PATCH', '', { name: 'Main' })).body.name, 'Main');
    assert.equal((await of('POST', '/archive')).body.code, 'campaign_groups.is_default');
    assert.equal((await of('PATCH', '', { name: null })).status, 422);
    assert.equal((await of('POST', '/pause-schedule')).body.schedule_paused, true);
    assert.equal((await of('POST', '/resume-schedule')).body.schedule_paused, false);
  });

  test('§2.8 archiving a group takes its campaigns along, and restoring brings back those that it took', async () => {
    const group_id = await newGroup('Season');
    const [before, taken] = [await create({ group_id, name: 'before' }), await create({ group_id, name: 'taken' })];
    const post = (path: string) => api.post(path);
    assert.equal((await post(`${CAMPAIGNS}/${before.id}/archive`)).body.is_archived, true);
    const archived = (await post(`${GROUPS}/${group_id}/archive`)).body;
    assert.deepEqual(archived, { group_id, affected_campaigns: 1, cancelled_count: 0, run_ids: [], failures: [] });
    assert.equal((await post(`${GROUPS}/${group_id}/archive`)).body.affected_campaigns, 0);

    const codes = async (...answers: Promise<{ status: number; body: Json }>[]) =>
      (await Promise.all(answers)).map(({ status, body }) => `${status} ${body.code} ${typeof body.detail}`);
    const conflict = '409 campaign_groups.archived string';
    assert.deepEqual(
      await codes(
        post(`${CAMPAIGNS}/${taken.id}/unarchive`),
        api.post(CAMPAIGNS, { ...CAMPAIGN, group_id }),
        patch((await create()).id, { group_id }),
        patch(taken.id, { name: 'x' }),
        api.post('/api/v1/scans', { ...PAGE, campaign_id: taken.id }),
        api.post('/api/v1/scans?dry_run=true', { ...PAGE, campaign_id: taken.id }),
      ),
      [conflict, conflict, conflict, ...Array(3).fill('409 campaigns.archived string')],
    );
    const shown = async (query = '') =>
      (await api.get(`${GROUPS}${query}`)).body.some(({ id }: Json) => id === group_id);
    assert.deepEqual(
      [await shown(), await shown('?archived=true&q=SEA'), await shown('?archived=true&q=no')],
      [false, true, false],
    );

    assert.equal((await post(`${GROUPS}/${group_id}/unarchive`)).body.affected_campaigns, 1);
    assert.equal(await namesOf(`?group_id=${group_id}`), 'taken');
    assert.equal(await namesOf(`?group_id=${group_id}&archived=true`), 'before');
    assert.equal((await api.get(`${GROUPS}/${group_id}`)).body.campaign_count, 1);
  });

  test('§2.8 a campaign that is archived by itself stays archived when its group is restored, whichever was archived first', async () => {
    const group_id = await newGroup('Season');
    const [own, taken] = [await create({ group_id, name: 'own' }), await create({ group_id, name: 'taken' })];
    await api.post(`${GROUPS}/${group_id}/archive`);
    assert.equal((await api.post(`${CAMPAIGNS}/${own.id}/archive`)).body.is_archived, true);
    assert.equal((await api.post(`${GROUPS}/${group_id}/unarchive`)).body.affected_campaigns, 1);
    const isArchived = async ({ id }: Json) => (await api.get(`${CAMPAIGNS}/${id}`)).body.is_archived;
    assert.deepEqual([await isArchived(own), await isArchived(taken)], [true, false]);
    assert.equal((await api.post(`${CAMPAIGNS}/${own.id}/unarchive`)).body.is_archived, false);
  });

  for (const [first, second] of [
    ['archive', 'unarchive'],
    ['unarchive', 'archive'],
  ])
    test(`§2.8 ${first} of a group that takes until after its ${second} leaves its campaigns as the group is`, async () => {
      const group_id = await newGroup(`First ${first}`);
      const campaign = await create({ group_id });
      if (first === 'unarchive') await api.post(`${GROUPS}/${group_id}/archive`);
      const { groups } = api.domains.campaigns.stores;
      const { change } = groups;
      groups.change = async (...of) => {
        groups.change = change;
        const changed = await change(...of);
        assert.equal((await api.post(`${GROUPS}/${group_id}/${second}`)).status, 200);
        return changed;
      };
      assert.equal((await api.post(`${GROUPS}/${group_id}/${first}`)).status, 200);
      const isArchived = second === 'archive';
      assert.equal((await api.get(`${GROUPS}/${group_id}`)).body.is_archived, isArchived);
      assert.equal((await api.get(`${CAMPAIGNS}/${campaign.id}`)).body.is_archived, isArchived);
    });
});
