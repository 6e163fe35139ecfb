import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { derivedId } from '@adsweep/shared/ids.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { seededRandom } from '../../../shared/test/support/seeded-random.ts';
import { type Limits, refusalOf } from '../../src/accounts/billing/allowance.ts';
import { bookCharge, monthOf } from '../../src/accounts/billing/ledger-entry.ts';
import { openAllowances } from '../../src/accounts/billing/open-allowances.ts';
import { foundFor, releaseAbandoned } from '../../src/accounts/billing/release-abandoned.ts';
import type { ReservationRequest } from '../../src/accounts/billing/reserve-checks.ts';
import type { OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { NO_QUOTAS } from '../../src/accounts/organizations/organization.ts';
import { gatherByKey } from '../../src/platform/gather-by-key.ts';
import '../support/fixed-clock.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { type Answered, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';

const SCANS = '/api/v1/scans';
const BULK = '/api/v1/scans/bulk';
const { country_code: _, ...TARGET } = PAGE;
const OURS = ORGANIZATIONS.ours;
const THIS_MONTH = monthOf(new Date());
const ELEVEN_MINUTES_MS = 660_000;
const logger = createLogger('test', 'silent');
const isCreatingRun = async () => false;

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const statusesOf = (answers: Answered[]) => answers.map(({ status, body }) => (status === 201 ? 201 : body.code));
const times = <T>(count: number, work: (at: number) => T): T[] => Array.from({ length: count }, (_one, at) => work(at));

/** The API with a quota or a balance, and what its relay would do. */
async function limitedApi(startBalanceMicros: number | null) {
  const api = await runningApi({ settings: { startBalanceMicros } });
  const { store, scans, domains } = api;
  const { stores, verbs } = domains.accounts;
  const { quotasOf } = verbs;
  const allowance = openAllowances({
    ...{ store, quotasOf, startBalanceMicros },
    ledger: stores.ledger,
    countReserved: scans.countReserved,
  });
  return {
    ...api,
    async limit(checks_per_month: number | null): Promise<void> {
      const organizations = store.collection<OrganizationRecord>('organizations');
      await organizations.updateOne({ _id: OURS }, { $set: { quotas: { ...NO_QUOTAS, checks_per_month } } });
    },
    /** As if nothing had ever been asked for. */
    async forget(): Promise<void> {
      await verbs.writeFinishedReservations();
      for (const name of ['scans', 'allowances', 'ledger_entries']) await store.collection(name).deleteMany({});
    },
    allowance,
    settle: verbs.writeFinishedReservations,
    used: async () => (await stores.allowances.read(OURS)).months[THIS_MONTH] ?? 0,
    left: async () => (await allowance.read(OURS)).allowance.available_micros,
    open: async () => Object.keys((await stores.allowances.read(OURS)).reservations).length,
    made: () => store.collection('scans').countDocuments({ organization_id: OURS }),
    /** Carries out every charge and refund, `repeats` times. */
    async relay(repeats = 1): Promise<void> {
      for (const { _id, outbox } of await store
        .collection<{ _id: string; outbox: never[] }>('scans')
        .find({})
        .toArray())
        for (const entry of outbox as { kind: 'charge' | 'refund' }[])
          for (let time = 0; time < repeats; time += 1) {
            await bookCharge(api.ledger, entry as never, { organizationId: OURS, scanId: _id, campaignId: null });
            if (entry.kind === 'refund') await allowance.follow(OURS);
          }
    },
    release: (now: Date) =>
      releaseAbandoned(
        { allowances: stores.allowances, countReserved: scans.countReserved, isCreatingRun, logger },
        now,
      ),
    /** Has the process die when it has written `count` more scans. */
    dieAfter(count: number): void {
      const { insertUnlessExists } = scans;
      let left = count;
      scans.insertUnlessExists = async (scan) => {
        left -= 1;
        if (left < 0) throw new Error('killed');
        return insertUnlessExists(scan);
      };
    },
    live(insertUnlessExists: RunningApi['scans']['insertUnlessExists']): void {
      scans.insertUnlessExists = insertUnlessExists;
    },
  };
}

type LimitedApi = Awaited<ReturnType<typeof limitedApi>>;

describe('checks per month', () => {
  let api: LimitedApi;
  let insert: RunningApi['scans']['insertUnlessExists'];
  before(async () => {
    api = await limitedApi(null);
    insert = api.scans.insertUnlessExists;
  });
  beforeEach(() => api.forget());
  after(() => api.stop());

  test('§5.9 concurrent requests create exactly as many scans as the quota allows', async () => {
    await api.limit(23);
    const answers = await Promise.all(times(60, () => api.post(SCANS, PAGE)));
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 37);
    for (const { status, body } of refused) {
      assert.deepEqual([status, body.code, typeof body.detail], [403, 'billing.quota_exhausted', 'string']);
    }
    assert.deepEqual([await api.used(), await api.made()], [23, 23]);
    assert.equal((await api.post(SCANS, PAGE, { key: KEYS.theirs })).status, 201, 'others have a quota of their own');
    await api.limit(24);
    assert.deepEqual(statusesOf([await api.post(SCANS, PAGE), await api.post(SCANS, PAGE)]), [
      201,
      'billing.quota_exhausted',
    ]);
    await api.limit(null);
    assert.equal((await api.post(SCANS, PAGE)).status, 201);
    assert.equal(await api.used(), 25, 'and they are counted without a quota too');
  });

  test('§5.9 a request for more scans than the quota has left creates none, and its dry run reports the refusal', async () => {
    await api.limit(7);
    const four = { ...TARGET, country_codes: ['US', 'PT'], repeat_count: 2 };
    for (const path of [BULK, `${BULK}?dry_run=true`])
      assert.equal((await api.post(path, { ...four, repeat_count: 4 })).body.code, 'billing.quota_exhausted');
    assert.deepEqual([await api.used(), await api.made()], [0, 0]);
    assert.equal((await api.post(`${BULK}?dry_run=true`, four)).status, 200);
    const answers = await Promise.all(times(5, () => api.post(BULK, four)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.deepEqual([await api.used(), await api.made()], [4, 4]);
  });

  test('§5.9 a refund returns the check once, to the quota of the month in which it was made', async () => {
    await api.limit(2);
    const [one] = [await api.post(SCANS, PAGE), await api.post(SCANS, PAGE)];
    assert.equal((await api.post(SCANS, PAGE)).status, 403);
    await api.post(`${SCANS}/${one.body.id}/cancel`);
    await api.relay(3);
    assert.equal(await api.used(), 1);
    assert.deepEqual(statusesOf([await api.post(SCANS, PAGE), await api.post(SCANS, PAGE)]), [
      201,
      'billing.quota_exhausted',
    ]);
    const old = { organizationId: OURS, scanId: 'old', campaignId: null };
    const refund = { id: 'refund:old', kind: 'refund', amount_micros: 5, at: new Date() } as const;
    await bookCharge(api.ledger, { ...refund, charged_at: new Date('2026-01-31T23:59:59Z') }, old);
    await Promise.all(times(3, () => api.allowance.follow(OURS)));
    const { months } = await api.allowance.allowances.read(OURS);
    assert.deepEqual(months, { [THIS_MONTH]: 2, '2026-01': -1 });
  });

  test('§5.9 an interrupted request counts the scans that it created, and none of them again when it is repeated', async () => {
    await api.limit(10);
    const eight = { ...TARGET, country_codes: ['US', 'PT'], repeat_count: 4 };
    api.dieAfter(3);
    assert.equal((await api.post(BULK, eight, withKey('interrupted'))).status, 500);
    api.live(insert);
    assert.deepEqual([await api.used(), await api.made()], [8, 3]);
    assert.equal((await api.post(BULK, eight, withKey('interrupted'))).status, 201);
    assert.deepEqual([await api.used(), await api.made()], [8, 8]);
    await api.settle();
    assert.equal(await api.open(), 0);
    assert.equal((await api.post(BULK, eight, withKey('interrupted'))).headers.get('idempotency-replayed'), 'true');
    assert.equal(await api.used(), 8);
  });

  test('§5.9 checks that an interrupted request did not use return to the quota after ten minutes, and count again when it is repeated', async () => {
    await api.limit(10);
    const eight = { ...TARGET, country_codes: ['US', 'PT'], repeat_count: 4 };
    api.dieAfter(3);
    assert.equal((await api.post(BULK, eight, withKey('abandoned'))).status, 500);
    api.live(insert);
    await api.release(new Date());
    assert.equal(await api.used(), 8, 'it may still be at work');
    const later = new Date(Date.now() + ELEVEN_MINUTES_MS);
    await Promise.all([api.release(later), api.release(later)]);
    assert.deepEqual([await api.used(), await api.open()], [3, 0]);
    for (const made of [8, 8]) {
      assert.equal((await api.post(BULK, eight, withKey('abandoned'))).status, 201);
      assert.deepEqual([await api.used(), await api.made()], [made, made]);
    }
  });

  test('§5.9 scans that an earlier version wrote, which name no reservation, use up that of their request', async () => {
    await api.limit(10);
    const eight = { ...TARGET, country_codes: ['US', 'PT'], repeat_count: 4 };
    api.dieAfter(3);
    assert.equal((await api.post(BULK, eight, withKey('upgraded'))).status, 500);
    api.live(insert);
    await api.store.collection('scans').updateMany({}, { $unset: { reserved_by: '' } });
    await api.release(new Date(Date.now() + ELEVEN_MINUTES_MS));
    assert.deepEqual([await api.used(), await api.open()], [3, 0]);
  });

  test('§5.9 two runs of one request count each of its scans once, whichever ends first', async () => {
    await api.limit(null);
    const written: string[] = [];
    const run = () =>
      openAllowances({
        store: api.store,
        ledger: api.ledger,
        quotasOf: async () => NO_QUOTAS,
        countReserved: async (_organization, _ids, madeBy) => written.filter((by) => by === madeBy).length,
        startBalanceMicros: null,
      });
    const first = { id: 'request', names: ['request'], indexes: times(20, (at) => at), checks: 20 };
    const [paused, other] = [run(), run()];
    for (const order of ['the second one', 'the first one']) {
      await api.forget();
      const about = { priceMicros: 10, isRepeatable: true, now: new Date() };
      const one = { runs: paused, created: 5, reserved: await paused.reserve(OURS, { ...first, ...about }) };
      // Five scans are there when it looks; it writes the others, and the first run finds them.
      const two = { runs: other, created: 15, reserved: await other.reserve(OURS, { ...first, checks: 15, ...about }) };
      for (const { reserved, created } of [one, two]) written.push(...times(created, () => reserved.by));
      for (const { runs, reserved, created } of order === 'the first one' ? [one, two] : [two, one]) {
        reserved.finish(created);
        await runs.writeFinished();
      }
      assert.deepEqual([await api.used(), await api.left(), await api.open()], [20, -200, 0], `${order} ends first`);
    }
  });

  test('§5.9 the number of used checks is exact when requests are repeated, interrupted and released', async () => {
    const random = seededRandom(20_261_122);
    /** The scans that exist, and by which reservation each was counted. */
    const there = new Map<string, string>();
    const countReserved = async (_organization: string, ids: string[], madeBy: string) =>
      ids.filter((id) => there.get(id) === madeBy).length;
    const processes = times(3, () =>
      openAllowances({
        store: api.store,
        ledger: api.ledger,
        quotasOf: async () => ({ ...NO_QUOTAS, checks_per_month: 40 }),
        countReserved,
        startBalanceMicros: null,
      }),
    );
    const request = async (at: number): Promise<void> => {
      const id = `request-${Math.floor(random() * 60)}`;
      const indexes = times(1 + (Number(id.slice(8)) % 3), (index) => index);
      const ids = indexes.map((index) => derivedId(id, index));
      const known = ids.filter((one) => there.has(one)).length;
      if (known === ids.length) return;
      const wanted: ReservationRequest = {
        ...{ id, names: [id], indexes, checks: ids.length - known, priceMicros: 10 },
        ...{ isRepeatable: true, now: new Date() },
      };
      const reserved = await processes[at % 3]!.reserve(OURS, wanted).catch(() => null);
      if (!reserved) return;
      let made = 0;
      for (const one of ids) {
        // It dies here, and leaves its reservation behind.
        if (random() < 0.05) return;
        if (there.has(one)) continue;
        made += 1;
        there.set(one, reserved.by);
      }
      reserved.finish(made);
    };
    for (let round = 0; round < 25; round += 1) {
      // A request runs at most once at a time, as the idempotency keys see to it.
      for (const batch of times(4, (at) => at)) await request(round * 4 + batch);
      assert.ok((await api.used()) <= 40);
    }
    for (const one of processes) await one.writeFinished();
    const parts = { allowances: processes[0]!.allowances, countReserved, isCreatingRun, logger };
    await releaseAbandoned(parts, new Date(Date.now() + ELEVEN_MINUTES_MS));
    assert.deepEqual([await api.used(), 10 * there.size + (await api.left())], [there.size, 0]);
    assert.equal(await api.open(), 0);
  });

  test('§5.9 a process whose clock is ahead releases nothing that is in use', async () => {
    const { allowances, reserve } = api.allowance;
    const parts = { allowances, countReserved: async () => 0, isCreatingRun, logger };
    const ahead = () => new Date(Date.now() + 3_600_000);
    const wanted = { id: 'of-a-request', names: ['a'], indexes: [0], checks: 1, priceMicros: 10, isRepeatable: true };
    await reserve(OURS, { ...wanted, now: new Date() });
    const since = foundFor(180_000);
    let atMs = 0;
    const step = () => releaseAbandoned(parts, ahead(), (found) => since(found, atMs));
    for (; atMs < 180_000; atMs += 60_000) await step();
    assert.deepEqual([await api.used(), await api.open()], [1, 1], 'for as long as the request may take');
    // The same request, sent again.
    await reserve(OURS, { ...wanted, now: new Date(Date.now() + 1) });
    for (; atMs < 360_000; atMs += 60_000) await step();
    assert.deepEqual([await api.used(), await api.open()], [1, 1], 'it begins anew when the request is repeated');
    await step();
    assert.deepEqual([await api.used(), await api.open()], [0, 0]);
  });

  test('§5.9 the reservation of a run whose start is repeated while it is to be released is kept', async () => {
    const run = { runId: 'run', id: 'of-the-run', checks: 5, priceMicros: 10 };
    await api.allowance.reserveRun(OURS, { ...run, now: new Date(Date.now() - ELEVEN_MINUTES_MS) });
    const { allowances } = api.allowance;
    const repeat = async () => {
      await api.allowance.reserveRun(OURS, { ...run, now: new Date() });
      return false;
    };
    const parts = { allowances, countReserved: async () => 0, logger };
    await releaseAbandoned({ ...parts, isCreatingRun: repeat }, new Date());
    assert.deepEqual([await api.used(), await api.open()], [5, 1]);
    await releaseAbandoned({ ...parts, isCreatingRun }, new Date(Date.now() + ELEVEN_MINUTES_MS));
    assert.deepEqual([await api.used(), await api.open()], [0, 0]);
  });

  test('the store takes a reservation exactly when refusalOf allows it', async () => {
    const { allowances } = api.allowance;
    const random = seededRandom(7);
    for (const at of times(150, (index) => index)) {
      const limits: Limits = {
        checks_per_month: random() < 0.3 ? null : Math.floor(random() * 6),
        hasBalance: random() < 0.5,
      };
      const priced = {
        month: '2026-11',
        checks: 1 + Math.floor(random() * 4),
        price_micros: Math.floor(random() * 2) * 10,
      };
      const id = `organization-${at}`;
      await allowances.beginMonth(id, priced.month);
      await allowances.credit(id, { after: 0, through: 1 }, [], Math.floor(random() * 5) * 10);
      const expected = refusalOf(await allowances.read(id), priced, limits) === null;
      const wanted = { ...priced, id: 'r', made_by: 'r', at: new Date(), names: [], indexes: [], isRepeatable: false };
      assert.equal(await allowances.take(id, [wanted], [], limits), expected, JSON.stringify({ limits, priced }));
    }
  });
});

describe('a balance', () => {
  let api: LimitedApi;
  before(async () => {
    api = await limitedApi(35_000);
  });
  beforeEach(() => api.forget());
  after(() => api.stop());

  test('§5.10 concurrent requests never spend more than the balance, and a refund can be spent again', async () => {
    assert.equal(PRICE_MICROS, 10_000);
    const answers = await Promise.all(times(10, () => api.post(SCANS, PAGE)));
    const paid = answers.filter(({ status }) => status === 201);
    assert.equal(paid.length, 3);
    for (const { status, body } of answers.filter((one) => one.status !== 201))
      assert.deepEqual([status, body.code, typeof body.detail], [403, 'billing.insufficient_funds', 'string']);
    assert.equal((await api.post(`${SCANS}?dry_run=true`, PAGE)).body.code, 'billing.insufficient_funds');
    assert.equal(await api.left(), 5_000);
    await api.post(`${SCANS}/${paid[0]!.body.id}/cancel`);
    await api.relay(2);
    assert.equal(await api.left(), 15_000);
    assert.deepEqual(statusesOf([await api.post(SCANS, PAGE), await api.post(SCANS, PAGE)]), [
      201,
      'billing.insufficient_funds',
    ]);
    await api.relay();
    const { rows } = await api.ledger.list(OURS, { types: null, created: null }, 0, 100);
    assert.equal(rows[0]?.balance_after_micros, await api.left(), 'the ledger comes to the same');
    assert.equal(rows.filter(({ type }) => type === 'initial_balance').length, 1);
  });

  test('§5.10 scans that cost nothing need no balance', async () => {
    const organizations = api.store.collection<OrganizationRecord>('organizations');
    await Promise.all(times(3, () => api.post(SCANS, PAGE)));
    assert.equal((await api.post(SCANS, PAGE)).status, 403);
    await organizations.updateOne({ _id: OURS }, { $set: { check_price_micros: 0 } });
    assert.equal((await api.post(SCANS, PAGE)).status, 201);
    await organizations.updateOne({ _id: OURS }, { $set: { check_price_micros: null } });
  });
});

describe('gatherByKey', () => {
  test('runs the items of one iteration of the event loop, or of the time of a running batch, together and in order; a failure rejects the whole batch', async () => {
    const batches: string[] = [];
    const gathered = gatherByKey<number, number>(async (key, items) => {
      batches.push(`${key}:${items.join(',')}`);
      if (items.includes(13)) throw new Error('unlucky');
      return items.map((item) => item * 2);
    }, 3);
    const results = await Promise.allSettled([1, 2, 3, 4, 13, 5].map((item) => gathered('a', item)));
    const other = await gathered('b', 6);
    assert.deepEqual(batches, ['a:1,2,3', 'a:4,13,5', 'b:6']);
    assert.deepEqual(
      results.map((one) => (one.status === 'fulfilled' ? one.value : 'failed')),
      [2, 4, 6, 'failed', 'failed', 'failed'],
    );
    assert.equal(other, 12);
  });
});
