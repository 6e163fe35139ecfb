import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { type AllowanceStore, allowanceStore } from '../../../src/accounts/billing/allowance-store.ts';
import { finishedReservations } from '../../../src/accounts/billing/finished-reservations.ts';
import { releaseAbandoned } from '../../../src/accounts/billing/release-abandoned.ts';
import { checkReservations, type ReservedChecks } from '../../../src/accounts/billing/reserve-checks.ts';
import { openStore } from '../../../src/platform/store.ts';

/** Reservations for scans of which it is known here by which reservation each was counted. */
function checksOf(allowances: AllowanceStore, checks_per_month = 1) {
  const scans: string[] = [];
  const countReserved = async (_organization: string, _ids: string[], madeBy: string) =>
    scans.filter((by) => by === madeBy).length;
  const limitsOf = async () => ({ checks_per_month, hasBalance: true });
  return {
    ...checkReservations({ allowances, countReserved, limitsOf, grantStart: async () => undefined }),
    /** A run writes so many scans of its request. */
    write: ({ by }: ReservedChecks, count: number) => scans.push(...Array<string>(count).fill(by)),
    release: () =>
      releaseAbandoned(
        { allowances, countReserved, isCreatingRun: async () => false, logger: createLogger('test', 'silent') },
        new Date(Date.now() + 3_600_000),
      ),
  };
}

const request = (id: string) => ({
  ...{ id, names: [id], indexes: [0], checks: 1, priceMicros: 0 },
  ...{ isRepeatable: true, now: new Date() },
});

test('checks that are being returned to an allowance can be reserved by the next request', async () => {
  const store = await openStore({ path: ':memory:' });
  const kept = allowanceStore(store);
  const mayWrite = Promise.withResolvers<void>();
  const checks = checksOf({
    ...kept,
    release: (...args: Parameters<typeof kept.release>) => mayWrite.promise.then(() => kept.release(...args)),
  });
  (await checks.reserve('one', request('unused'))).finish(0);
  const written = checks.writeFinished();
  await Promise.resolve();
  const reserved = checks.reserve('one', request('next'));
  setTimeout(mayWrite.resolve, 20);
  await assert.doesNotReject(reserved);
  await written;
  await store.close();
});

test('checks that are being returned can be reserved, also where those of another organization have been returned since', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = await openStore({ path: ':memory:' });
  const kept = allowanceStore(store);
  const mayWrite = Promise.withResolvers<void>();
  const checks = checksOf({
    ...kept,
    release: async (found, ...rest) => {
      if (found.organizationId === 'slow') await mayWrite.promise;
      return kept.release(found, ...rest);
    },
  });
  const unused = await Promise.all(['slow', 'quick'].map((id) => checks.reserve(id, request('unused'))));
  for (const one of unused) {
    one.finish(0);
    t.mock.timers.tick(1_000);
  }
  const reserved = assert.doesNotReject(checks.reserve('slow', request('next')));
  for (let turns = 0; turns < 100; turns += 1) await setImmediate();
  mayWrite.resolve();
  await reserved;
  await checks.writeFinished();
  await store.close();
});

test('a process keeps nothing of the reservations whose ends it has written', async () => {
  const finished = finishedReservations(async () => undefined);
  for (let times = 0; times < 3; times += 1) {
    finished.add('one', { id: 'request', made_by: 'run', isUsed: true });
    await finished.flush();
  }
  assert.equal(await finished.written(), undefined);
});

test('of a reservation that several runs of a request share, the checks that none has used are returned, however many of the runs die', async () => {
  const store = await openStore({ path: ':memory:' });
  const allowances = allowanceStore(store);
  const checks = checksOf(allowances);
  const cases: [created: number[], left: number][] = [
    [[0, 0, 0], 1],
    [[1, 0, 0], 0],
    [[0, 0, 1], 0],
    [[0, 1, 0], 0],
  ];
  const orders = [[0, 1, 2], [2, 1, 0], [0], [1], [2, 1], []];
  for (const [at, [created, left]] of cases.entries())
    for (const order of orders) {
      const organization = `${at} ${order}`;
      const runs = await Promise.all(created.map(() => checks.reserve(organization, request('shared'))));
      for (const [run, count] of created.entries()) checks.write(runs[run]!, count);
      for (const run of order) runs[run]!.finish(created[run]!);
      await checks.writeFinished();
      if (order.length === 0) await checks.release();
      const next = checks.reserve(organization, request('next'));
      await (left === 1 ? assert.doesNotReject(next) : assert.rejects(next));
      const { months, reservations } = await allowances.read(organization);
      assert.deepEqual([Object.values(months), Object.keys(reservations)], [[1], left === 1 ? ['next'] : []]);
    }
  await store.close();
});

test('checks that a run of a request has reserved once its scans existed are returned when it dies', async () => {
  const store = await openStore({ path: ':memory:' });
  const allowances = allowanceStore(store);
  for (const isShared of [false, true]) {
    const organization = `shared: ${isShared}`;
    const checks = checksOf(allowances, 2);
    const first = await checks.reserve(organization, request('repeated'));
    checks.write(first, 1);
    first.finish(1);
    await checks.writeFinished();
    // It looked for the scans before they existed, and dies now.
    await checks.reserve(organization, request('repeated'));
    if (isShared) (await checks.reserve(organization, request('repeated'))).finish(0);
    await checks.writeFinished();
    if (!isShared) await checks.release();
    const { months, reservations } = await allowances.read(organization);
    assert.deepEqual([Object.values(months), reservations], [[1], {}], organization);
  }
  await store.close();
});
