import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { addFirstOrganization } from '../../src/accounts/add-organization.ts';
import { storedPerDay } from '../../src/accounts/stored-per-day.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { dayShares } from '../../src/platform/day-shares.ts';
import { openStore } from '../../src/platform/store.ts';
import { type Answered, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

type StoredAnswer = { answer: { body: string } | null };

const OPERATORS = 'key-of-the-operator';

let api: RunningApi;
before(async () => {
  api = await runningApi({ settings: { storedMbPerDay: 2 } });
  await addFirstOrganization(api.accounts, OPERATORS, new Date());
});
after(() => api.stop());

/** A tag that no compression makes shorter. */
const randomTag = (bytes: number): string => `<b>${randomBytes(bytes / 2).toString('hex')}</b>`;
const { url: _, ...OF_TAG } = PAGE;
const statusesOf = (answers: Answered[]) =>
  Object.entries(Object.groupBy(answers, ({ status }) => String(status))).map(([status, all]) => [status, all!.length]);
const quotaExhausted = (answer: Answered) => {
  assert.deepEqual([answer.status, answer.body.code], [429, 'storage.quota_exhausted'], answer.text);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
};

test('what was taken before midnight and given back after it is not stored on the next day', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: new Date('2026-03-01T23:59:59Z') });
  const store = await openStore({ path: ':memory:' });
  const { storing, requireLeft } = storedPerDay(dayShares(store), 1);
  const refused = storing('ours', 'targets', 1_000_000, async () => {
    t.mock.timers.setTime(Date.parse('2026-03-02T00:00:01Z'));
    await requireLeft('ours', 'targets', 1_000_000);
    throw new ApiError('forbidden', 'The organization may create no scans.');
  });
  await assert.rejects(refused, ApiError);
  await assert.rejects(requireLeft('ours', 'targets', 1024 * 1024 + 1), ApiError);
  await store.close();
});

describe('what an organization stores in a day', () => {
  test('§2.8.81 an answer that repeats an ad tag for each of its scans is stored in a few kilobytes', async () => {
    const answers = api.store.collection<StoredAnswer>('idempotency_keys');
    const body = { ...OF_TAG, ad_tag: randomTag(300_000), country_codes: ['US', 'PT'] };
    const { country_code: __, ...bulk } = body;
    const send = () =>
      api.post('/api/v1/scans/bulk', bulk, { headers: { 'idempotency-key': 'large' }, key: KEYS.theirs });
    const first = await send();
    assert.equal(first.status, 201, first.text);
    assert.ok(first.text.length > 600_000, `${first.text.length}`);
    const [stored] = await answers.find({}).toArray();
    assert.ok(stored!.answer!.body.length < 8_000, `${stored!.answer!.body.length} bytes`);
    const again = await send();
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.equal(again.text, first.text);
  });

  test('§2.8.81 of 40 scans with ad tags at once no more are accepted than the day has room for', async () => {
    const before = await api.store.collection('scan_targets').countDocuments({ organization_id: ORGANIZATIONS.ours });
    const all = Array.from({ length: 40 }, () => api.post('/api/v1/scans', { ...OF_TAG, ad_tag: randomTag(200_000) }));
    const answers = await Promise.all(all);
    assert.deepEqual(statusesOf(answers), [
      ['201', 10],
      ['429', 30],
    ]);
    quotaExhausted(answers.find(({ status }) => status === 429)!);
    const stored = await api.store.collection('scan_targets').countDocuments({ organization_id: ORGANIZATIONS.ours });
    assert.equal(stored - before, 10);
    assert.equal((await api.post('/api/v1/scans', PAGE)).status, 201, 'a page has no text of its own');
    const campaign = {
      ...{ name: 'Tags', campaign_type: 'ad_tag', ad_tag: randomTag(200_000), country_codes: ['US'] },
    };
    const { id } = (await api.post('/api/v1/campaigns', campaign)).body;
    quotaExhausted(await api.post(`/api/v1/campaigns/${id}/run`));
    const tag = { ...OF_TAG, ad_tag: randomTag(200_000) };
    quotaExhausted(await api.post('/api/v1/scans?dry_run=true', tag));
    quotaExhausted(await api.post('/api/v1/scans', tag));
    assert.equal((await api.post('/api/v1/scans?dry_run=true', PAGE)).status, 200);
  });

  test('§2.8.81 a scan that is estimated or refused takes nothing of the room for ad tags', async () => {
    const { id, api_key: key } = (await api.post('/api/v1/organizations', { name: 'Small' }, { key: OPERATORS })).body;
    const patched = await api.call('PATCH', `/api/v1/organizations/${id}`, {
      body: { checks_per_month: 1 },
      key: OPERATORS,
    });
    assert.equal(patched.status, 200, patched.text);
    const send = (path: string, ad_tag: string, repeat_count = 1) =>
      api.post(path, { ...OF_TAG, ad_tag, repeat_count }, { key });
    for (let at = 0; at < 8; at += 1) {
      assert.equal((await send('/api/v1/scans?dry_run=true', randomTag(400_000))).status, 200);
      const refused = await send('/api/v1/scans', randomTag(400_000), 2);
      assert.deepEqual([refused.status, refused.body.code], [403, 'billing.quota_exhausted']);
    }
    assert.equal((await send('/api/v1/scans', randomTag(400_000))).status, 201);
  });

  test('§2.8.81 answers for an Idempotency-Key end with the room for them, and the request is not run', async () => {
    const shares = api.store.collection<{ _id: string; used: number }>('day_shares');
    const send = (key: string) =>
      api.post('/api/v1/campaign-groups', { name: key }, { headers: { 'idempotency-key': key } });
    assert.equal((await send('first')).status, 201);
    const [, shareOfOurs] = await shares.find({ _id: /^answers\// }).toArray();
    assert.ok(shareOfOurs!._id.includes(ORGANIZATIONS.ours), shareOfOurs!._id);
    await shares.updateOne({ _id: shareOfOurs!._id }, { $set: { used: 2 * 1024 * 1024 } });
    const answers = [];
    for (let at = 0; at < 40; at++) answers.push(await send(`group-${at}-${'x'.repeat(150)}`));
    assert.ok(
      answers.every(({ status }) => status === 201),
      'a block of a megabyte has room for many',
    );
    const { storedPerDay } = api.domains.accounts.verbs;
    await storedPerDay.take(ORGANIZATIONS.ours, 'answers', 1_000_000);
    quotaExhausted(await send('last'));
    const groups = (await api.get('/api/v1/campaign-groups')).body as { name: string }[];
    assert.ok(!groups.some(({ name }) => name === 'last'));
    assert.equal((await send('first')).headers.get('idempotency-replayed'), 'true', 'what is stored is answered');
    assert.equal((await api.post('/api/v1/campaign-groups', { name: 'without a key' })).status, 201);
  });

  test('§2.8.81 changes that the audit log keeps for ever are counted, and 5,000 of a day are enough', async () => {
    const { storedPerDay } = api.domains.accounts.verbs;
    const stolen = (await api.post('/api/v1/account/api-keys', { name: 'Stolen' })).body;
    const labels = () =>
      api.call('PUT', '/api/v1/account/labels', { body: { labels: [{ key: 'team', display_name: 'Team' }] } });
    assert.equal((await labels()).status, 200);
    await storedPerDay.take(ORGANIZATIONS.ours, 'changes', 4_995);
    const answers = await Promise.all(Array.from({ length: 40 }, labels));
    assert.deepEqual(statusesOf(answers), [
      ['200', 3],
      ['429', 37],
    ]);
    assert.equal((await api.get('/api/v1/account/labels')).status, 200);
    quotaExhausted(await api.post('/api/v1/account/api-keys', { name: 'One more' }));
    assert.equal((await api.call('DELETE', `/api/v1/account/api-keys/${stolen.id}`)).status, 204, 'a key is revoked');
  });
});
