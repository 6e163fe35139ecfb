import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { BODIES } from '@adsweep/shared/capture/artifacts.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { BODY_LIFETIME_MS } from '@adsweep/shared/limits.ts';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { finishCrawled } from '../../src/analysis/pipeline/worker.ts';
import type { RuleRecord } from '../../src/analysis/rules/rule.ts';
import { relay } from '../../src/delivery/outbox/relay.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { changeScan } from '../../src/scan/change-scan.ts';
import { type RecheckScope, recheckScans } from '../../src/scan/recheck.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { addRule, checkCrawled, crawledScan, LOUD, RECHECK_FAKES, slugsOf } from '../support/checked-scans.ts';
import { modelServer } from '../support/model-server.ts';
import { itemsOf, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';
import { captureOf, gzJson, named, type RunningFarm, requestOf, runningFarm } from '../support/running-farm.ts';
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
    const many = Array.from({ length: 600 }, (_, at) => {
      return finished({ organization_id, created_at: new Date(at), completed_at: new Date(at) });
    });
    await api.store.collection<ScanRecord>('scans').insertMany(many);
    let answered = 0;
    let isOver = false;
    const recheckAll = recheck('last_n', 600).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      assert.equal((await api.get(`/api/v1/scans/${many[0]!._id}`)).status, 200);
      answered += isOver ? 0 : 1;
    }
    assert.deepEqual((await recheckAll).body, { queued_count: 600 });
    assert.ok(answered > 0, 'another request is answered meanwhile');
  });
});

describe('a recheck', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  afterEach(() => farm.forgetScans());
  after(() => farm.stop());

  const PAGE = 'https://shop.example/';
  /** The contents of a capture, which are there for a day. */
  const requests = Array.from({ length: 201 }, (_, id) => requestOf(id, { url: `https://cdn.example/request-${id}` }));
  const bodies = gzJson([
    {
      url: 'https://cdn.example/kit.js',
      resource_type: 'script',
      content_type: '',
      bytes: 18,
      text: 'payload-of-the-kit',
    },
  ]);

  /** A scan whose first check has ended, with sound and with contents. */
  async function checked(): Promise<ScanRecord> {
    const scan = await farm.submit();
    const lease = await farm.acquireOne();
    await farm.node.upload(lease, BODIES, 'application/gzip', bodies);
    const artifacts = [named(BODIES, bodies)];
    await farm.node.complete(lease, captureOf([PAGE], { observations: [LOUD], requests, artifacts }));
    await work();
    return farm.read(scan._id);
  }
  const work = () => checkCrawled(farm);
  const relayAll = async () => {
    while ((await relay(farm.farm.dependencies, new Date())).entries > 0);
  };
  const scope: RecheckScope = { newest: 10 };
  const recheck = ({ organization_id }: ScanRecord, id = newId()) =>
    recheckScans({ scans: farm.scans, ...RECHECK_FAKES }, organization_id, scope, id);

  it('§3.8 removes the tags, and assigns those of the current rules, without a crawl', async () => {
    const before = await checked();
    assert.deepEqual([before.status, slugsOf(before)], ['completed', ['autosound']]);
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    await farm.tags.setArchived(autosound, new Date(), new Date());
    await addRule(farm, before, 'kit', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await addRule(farm, before, 'payload', { rule_type: 'regexp_request_body', config: { pattern: 'payload' } });
    assert.equal(await recheck(before), 1);
    const waiting = await farm.read(before._id);
    assert.deepEqual([waiting.status, waiting.tags], ['rechecking', []]);
    assert.equal(await work(), 1);
    await farm.tags.setArchived(autosound, null, new Date());
    const after = await farm.read(before._id);
    // It was archived meanwhile, which a recheck does not undo (§2.5.5).
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['kit', 'payload', 'autosound']]);
    assert.deepEqual(after.completed_at, before.completed_at, 'it ended when it ended first');
    assert.deepEqual(after.capture, before.capture);
    assert.equal((await farm.node.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 })).leases.length, 0, 'no crawl');
  });

  it('§2.5.5 keeps the assignments of archived tags, even if their rule is gone, and shows and announces none', async () => {
    const before = await checked();
    await addRule(farm, before, 'kit', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await recheck(before);
    await work();
    assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound', 'kit']);
    const tagOf = async (slug: string) => (await farm.tags.visibleTo(before.organization_id)).get(slug)!;
    await farm.tags.setArchived(await tagOf('kit'), new Date(), new Date());
    await farm.rules.remove({ _id: `kit-${before._id}`, owner: before.organization_id } as RuleRecord);
    for (let times = 0; times < 2; times += 1) {
      await recheck(before);
      await work();
    }
    const archived = await farm.read(before._id);
    assert.deepEqual([slugsOf(archived), archived.tags_before_recheck], [['autosound', 'kit'], []]);
    const events = archived.outbox.flatMap((entry) =>
      entry.kind === 'event' && entry.event === 'scanning.tags.detected' ? [entry.payload] : [],
    );
    const { scan_id, tag_slugs, tags } = events.at(-1)!;
    assert.deepEqual([scan_id, tag_slugs, tags.map(({ slug }) => slug)], [before._id, ['autosound'], ['autosound']]);
    await farm.tags.setArchived(await tagOf('kit'), null, new Date());
    await recheck(before);
    await work();
    assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound'], 'a tag in service is judged anew');
  });

  it('§2.5.5 keeps the assignment of a tag that is archived or restored while the scan is rechecked, once', async () => {
    const before = await checked();
    const autosound = (await farm.tags.visibleTo(null)).get('autosound')!;
    for (const [atFirst, then] of [
      [null, new Date()],
      [new Date(), null],
    ] as const) {
      await farm.tags.setArchived(autosound, atFirst, new Date());
      await recheck(before);
      await farm.tags.setArchived(autosound, then, new Date());
      await work();
      assert.deepEqual(slugsOf(await farm.read(before._id)), ['autosound']);
    }
    await farm.tags.setArchived(autosound, null, new Date());
  });

  it('§8.5 after a day matches no contents, and only the first 200 requests', async () => {
    const before = await checked();
    await addRule(farm, before, 'last', { rule_type: 'regexp_request_url', config: { pattern: 'request-199$' } });
    await addRule(farm, before, 'beyond', { rule_type: 'regexp_request_url', config: { pattern: 'request-200$' } });
    await addRule(farm, before, 'payload', { rule_type: 'regexp_request_body', config: { pattern: 'payload' } });
    const tomorrow = new Date(Date.now() + BODY_LIFETIME_MS + 60_000);
    await farm.sweepAll(tomorrow);
    await recheck(before);
    await work();
    const after = await farm.read(before._id);
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['autosound', 'last']]);
  });

  it('§3.8 emits the events of a first analysis, is metered separately, and is not charged', async () => {
    const before = await checked();
    for (const id of ['one', 'other']) {
      await recheck(before, id);
      await work();
    }
    await relayAll();
    const kinds = (await farm.eventsOf(before.organization_id)).map(({ kind }) => kind);
    const ofOneCheck = ['scanning.tags.detected', 'scanning.scan.completed'];
    assert.deepEqual(kinds, [...ofOneCheck, ...ofOneCheck, ...ofOneCheck]);
    assert.deepEqual(await farm.ledgerOf(before.organization_id), [[`charge:${before._id}`, -10_000]]);
    const metered = await farm.store.collection('rechecks').find({}).sort({ _id: 1 }).toArray();
    assert.deepEqual(
      metered.map(({ scan_id, organization_id }) => [scan_id, organization_id]),
      [1, 2].map(() => [before._id, before.organization_id]),
    );
    assert.equal((await farm.read(before._id)).outbox.length, 0);
    for (const [days, left] of [
      [61, 2],
      [63, 0],
    ] as const) {
      await farm.store.sweepExpired(new Date(Date.now() + days * 24 * HOUR_MS));
      assert.equal(await farm.store.collection('rechecks').countDocuments({}), left, `after ${days} days`);
    }
  });

  it('§6.4.21 has later events than the analysis before, also if the clock of that one was ahead', async () => {
    const scan = await crawledScan(farm);
    for (const aheadSeconds of [300, 120, 0]) {
      await checkCrawled(farm, new Date(Date.now() + aheadSeconds * 1_000));
      await recheck(scan);
    }
    const { outbox, status_at } = await farm.read(scan._id);
    const times = outbox.flatMap((entry) => (entry.kind === 'event' ? [entry.at.getTime()] : []));
    assert.equal(times.length, 6);
    assert.deepEqual(times, times.toSorted());
    assert.ok(times[0]! > Date.now() + 200_000 && status_at!.getTime() >= times.at(-1)!);
  });

  it('§3.8 is completed exactly once if a worker dies during it', async () => {
    const before = await checked();
    await recheck(before);
    const { dependencies } = farm.farm;
    const [rechecking] = await farm.scans.awaitingAnalysis(new Date(), 1);
    const claim = { type: 'claim_checks' as const, until: new Date(Date.now() - 1) };
    const dead = await changeScan(farm.scans, await farm.read(rechecking!._id), claim, new Date());
    assert.equal(dead!.status, 'checking');
    assert.equal(await recheck(before), 0, 'one that is being checked again is left as it is');
    assert.equal(await finishCrawled(dependencies, new Date()), 1);
    const after = await farm.read(before._id);
    assert.deepEqual([after.status, slugsOf(after)], ['completed', ['autosound']]);
    assert.equal(after.outbox.filter((entry) => entry.kind === 'event').length, 4);
  });

  it('§3.8 waits behind first analyses', async () => {
    const before = await checked();
    await recheck(before);
    const scan = await farm.submit();
    await farm.node.complete(await farm.acquireOne(), captureOf([PAGE]));
    assert.deepEqual(
      (await farm.scans.awaitingAnalysis(new Date(), 1)).map(({ _id }) => _id),
      [scan._id],
    );
    const both = await farm.scans.awaitingAnalysis(new Date(), 8);
    assert.deepEqual(new Set(both.map(({ _id }) => _id)), new Set([scan._id, before._id]));
  });

  it('§3.8 keeps its evidence until it is done', async () => {
    const before = await checked();
    await recheck(before);
    await relayAll();
    const until = new Date(before.completed_at!.getTime() + 1);
    assert.deepEqual(await farm.scans.endedUntil(until, 10), []);
    const [ended, ...others] = await farm.scans.endedWithEvidence(new Date(0), until, 10);
    assert.deepEqual([ended?._id, others], [before._id, []]);
    assert.equal(await farm.scans.beginRemoval(before, new Date()), false);
  });
});
