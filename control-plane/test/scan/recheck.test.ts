import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { ApiError } from '../../src/http/api-error.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { modelServer } from '../support/model-server.ts';
import { itemsOf, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';
import { sampleScan, sampleTag } from '../support/sample-scan.ts';

const PATH = '/api/v1/scans/recheck';
const HOUR_MS = 60 * 60 * 1_000;

const finished = (changes: Partial<ScanRecord>): ScanRecord =>
  sampleScan({ _id: newId(), outbox: [], tags: [sampleTag('autosound', 'It is loud.')], ...changes });

describe('POST /api/v1/scans/recheck', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  beforeEach(async () => void (await api.store.collection('scans').deleteMany({})));
  after(() => api.stop());

  const all = () => api.store.collection<ScanRecord>('scans').find({}).sort({ created_at: 1 }).toArray();
  const statuses = async () => (await all()).map(({ status }) => status);
  const recheck = (scope_type: string, scope_value: unknown, headers: Record<string, string> = {}) =>
    api.post(PATH, { scope_type, scope_value }, { headers });
  /** A scan of ours, `hours` after the first moment, which ended then. */
  const store = async (hours: number, changes: Partial<ScanRecord> = {}, from = Date.UTC(2026, 0, 1)) => {
    const at = new Date(from + hours * HOUR_MS);
    const times = { created_at: at, completed_at: at, organization_id: ORGANIZATIONS.ours };
    const scan = finished({ ...times, ...changes });
    await api.store.collection<ScanRecord>('scans').insertOne(scan);
    return scan;
  };

  it('§4.2.22 rechecks the newest completed and partial scans, and removes their tags', async () => {
    for (const status of ['completed', 'completed', 'partial', 'failed', 'completed'] as const)
      await store((await all()).length, { status });
    assert.deepEqual((await recheck('last_n', 3)).body, { queued_count: 3 });
    assert.deepEqual(await statuses(), ['completed', 'rechecking', 'rechecking', 'failed', 'rechecking']);
    const [left, taken] = await all();
    assert.deepEqual([left!.tags.length, taken!.tags.length], [1, 0]);
    assert.deepEqual((await api.get(`/api/v1/scans/${taken!._id}/tags`)).body, []);
    assert.equal((await api.get(`/api/v1/scans/${taken!._id}`)).body.status, 'rechecking');
  });

  it('§4.2.25 rechecks one finished scan, once, and no scan of another organization', async () => {
    const [one, other, failed] = [await store(0), await store(1), await store(2, { status: 'failed' })];
    const theirs = await store(3, { organization_id: ORGANIZATIONS.theirs });
    const path = ({ _id }: ScanRecord) => `/api/v1/scans/${_id}/recheck`;
    assert.deepEqual((await api.post(path(one))).body, { queued_count: 1 });
    assert.deepEqual((await api.post(path(one))).body, { queued_count: 0 });
    assert.deepEqual((await api.post(path(failed))).body, { queued_count: 0 });
    assert.equal((await api.post(path(theirs))).status, 404);
    assert.equal((await api.post(path(other), undefined, { key: await api.keyThatMay('scans.read') })).status, 403);
    assert.deepEqual(await statuses(), ['rechecking', 'completed', 'failed', 'completed']);
  });

  it('§4.2.22 rechecks the scans that completed in the last hours', async () => {
    const now = Date.now();
    await store(-25, {}, now);
    await store(-23, { created_at: new Date(now - 90 * HOUR_MS) }, now);
    await store(-1, {}, now);
    assert.deepEqual((await recheck('hours', 24)).body, { queued_count: 2 });
    assert.deepEqual(await statuses(), ['rechecking', 'completed', 'rechecking']);
  });

  it('§4.2.22 does not change scans of other organizations and scans without evidence', async () => {
    await store(0, { evidence_removed_at: new Date() });
    await store(1, { organization_id: ORGANIZATIONS.theirs });
    await store(2);
    assert.deepEqual((await recheck('last_n', 10)).body, { queued_count: 1 });
    assert.deepEqual(await statuses(), ['completed', 'completed', 'rechecking']);
  });

  it('§4.2.23 sent twice concurrently queues each scan once', async () => {
    for (let hour = 0; hour < 130; hour++) await store(hour);
    const answers = await Promise.all([recheck('last_n', 120), recheck('last_n', 120), recheck('last_n', 120)]);
    const counts = answers.map(({ body }) => body.queued_count);
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      120,
    );
    const scans = await all();
    assert.equal(scans.filter(({ status }) => status === 'rechecking').length, 120);
    const metered = scans.flatMap(({ outbox }) => outbox.filter(({ kind }) => kind === 'recheck'));
    assert.equal(metered.length, 120);
  });

  it('§4.2.23 repeated after an interruption queues the missing scans, and none twice', async () => {
    for (let hour = 0; hour < 6; hour++) await store(hour);
    const { apply } = api.scans;
    let writes = 0;
    api.scans.apply = async (...of) => {
      writes += 1;
      if (writes > 3) throw new Error('the store is away');
      return apply(...of);
    };
    const headers = { 'idempotency-key': 'again' };
    assert.equal((await recheck('last_n', 6, headers)).status, 500);
    // The request is answered at the first error, also while it still begins the writes after it.
    await until('all scans were written once', () => writes === 6);
    api.scans.apply = apply;
    const queued = async () => (await statuses()).filter((status) => status === 'rechecking').length;
    await until('three scans are queued', async () => (await queued()) === 3);
    assert.deepEqual((await recheck('last_n', 6, headers)).body, { queued_count: 6 });
    const replayed = await recheck('last_n', 6, headers);
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(
      (await all()).map(({ outbox }) => outbox.length),
      [1, 1, 1, 1, 1, 1],
    );
  });

  it('§4.2.22 refuses more than 5,000 scans, more than 72 hours and unknown scopes', async () => {
    assert.deepEqual(itemsOf(await recheck('last_n', 5_001)), ['body.scope_value less_than_equal']);
    assert.deepEqual(itemsOf(await recheck('hours', 73)), ['body.scope_value less_than_equal']);
    assert.deepEqual(itemsOf(await recheck('hours', 0)), ['body.scope_value greater_than_equal']);
    assert.deepEqual(itemsOf(await recheck('all', 1)), ['body.scope_type enum']);
    assert.equal((await recheck('hours', 72)).status, 200);
  });

  it('§2.8.81 ends with the rechecks of the day: the scans before are rechecked, and further requests are refused', async () => {
    const organization_id = ORGANIZATIONS.theirs;
    const { storedPerDay } = api.domains.accounts.verbs;
    for (let hour = 0; hour < 53; hour++) await store(hour, { organization_id });
    const ofTheirs = (scope_value: number) =>
      api.post(PATH, { scope_type: 'last_n', scope_value }, { key: KEYS.theirs });
    await storedPerDay.take(organization_id, 'rechecks', 49_949);
    const exhausted = await ofTheirs(53);
    assert.deepEqual([exhausted.status, exhausted.body.code], [429, 'storage.quota_exhausted'], exhausted.text);
    assert.ok(Number(exhausted.headers.get('retry-after')) > 0);
    const rechecking = async () => (await statuses()).filter((status) => status === 'rechecking').length;
    assert.equal(await rechecking(), 50);
    const path = ({ _id }: ScanRecord) => `/api/v1/scans/${_id}/recheck`;
    const [first, second, third] = await all();
    const one = (scan: ScanRecord) => api.post(path(scan), undefined, { key: KEYS.theirs });
    assert.deepEqual((await one(third!)).body, { queued_count: 1 });
    assert.deepEqual([(await one(first!)).status, (await one(second!)).status, await rechecking()], [429, 429, 51]);
  });

  it('§2.8.81 repeated with its Idempotency-Key on the next day, queues the scans that were left', async () => {
    const organization_id = ORGANIZATIONS.theirs;
    const { storedPerDay } = api.domains.accounts.verbs;
    for (let hour = 0; hour < 53; hour++) await store(hour, { organization_id });
    const { take } = storedPerDay;
    let left = 50;
    storedPerDay.take = async (organizationId, kind, amount) => {
      if (kind !== 'rechecks') return take(organizationId, kind, amount);
      if (amount > left) throw new ApiError('storage.quota_exhausted', 'No more today.');
      left -= amount;
      return (unused) => {
        left += unused;
      };
    };
    const sent = { key: KEYS.theirs, headers: { 'idempotency-key': 'two days' } };
    const ofTheirs = () => api.post(PATH, { scope_type: 'last_n', scope_value: 53 }, sent);
    assert.deepEqual([(await ofTheirs()).status, (await ofTheirs()).status], [429, 429]);
    await api.store.collection<ScanRecord>('scans').updateMany({}, { $set: { status: 'completed' } });
    left = 3;
    const rest = await ofTheirs();
    storedPerDay.take = take;
    assert.deepEqual(rest.body, { queued_count: 53 }, rest.text);
    const expected = (_: unknown, at: number) => (at < 3 ? 'rechecking' : 'completed');
    assert.deepEqual(await statuses(), Array.from({ length: 53 }, expected));
  });

  it('§4.2.22 needs a balance that covers a check where an AI model is set, and none where it is not', async () => {
    const server = await modelServer();
    const model = { ...server.settings, scansWaiting: 1 };
    for (const [asked, expected] of [
      [{ model }, ['403 billing.insufficient_funds', '403 billing.insufficient_funds']],
      [{}, ['200 undefined', '404 not_found']],
    ] as const) {
      const poor = await runningApi({ settings: { startBalanceMicros: 0, ...asked } });
      const many = await poor.post(PATH, { scope_type: 'last_n', scope_value: 1 });
      const one = await poor.post(`/api/v1/scans/${newId()}/recheck`);
      await poor.stop();
      assert.deepEqual(
        [many, one].map(({ status, body }) => `${status} ${body.code}`),
        expected,
      );
    }
    await server.stop();
  });

  it('§5.4 refuses an organization that is not active', async () => {
    await store(0, { organization_id: ORGANIZATIONS.ours });
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { status: 'suspended' });
    const answer = await recheck('last_n', 1);
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { status: 'active' });
    assert.deepEqual([answer.status, answer.body.code], [403, 'billing.suspended']);
    assert.deepEqual(await statuses(), ['completed']);
  });

  it('§4.2.23 many scans are queued while other requests are answered', slow, async () => {
    const organization_id = ORGANIZATIONS.ours;
    const many = Array.from({ length: 200 }, (_, at) => {
      return finished({ organization_id, created_at: new Date(at), completed_at: new Date(at) });
    });
    await api.store.collection<ScanRecord>('scans').insertMany(many);
    let answered = 0;
    let isOver = false;
    const recheckAll = recheck('last_n', 200).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      assert.equal((await api.get(`/api/v1/scans/${many[0]!._id}`)).status, 200);
      answered += isOver ? 0 : 1;
    }
    assert.deepEqual((await recheckAll).body, { queued_count: 200 });
    assert.ok(answered > 0, 'another request is answered meanwhile');
  });
});
