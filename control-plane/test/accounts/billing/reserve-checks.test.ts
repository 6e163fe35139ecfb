import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AllowanceStore, allowanceStore } from '../../../src/accounts/billing/allowance-store.ts';
import { checkReservations } from '../../../src/accounts/billing/reserve-checks.ts';
import { openStore } from '../../../src/platform/store.ts';

const limitsOf = async () => ({ checks_per_month: 1, hasBalance: true });
const checksOf = (allowances: AllowanceStore) =>
  checkReservations({ allowances, limitsOf, grantStart: async () => undefined });
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
    finish: (...args: Parameters<typeof kept.finish>) => mayWrite.promise.then(() => kept.finish(...args)),
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

test('of a reservation that several runs of a request share, the last one returns what none has used', async () => {
  const store = await openStore({ path: ':memory:' });
  const allowances = allowanceStore(store);
  const checks = checksOf(allowances);
  const cases: [created: number[], left: number][] = [
    [[0, 0, 0], 1],
    [[1, 0, 0], 0],
    [[0, 0, 1], 0],
    [[0, 1, 0], 0],
  ];
  for (const [at, [created, left]] of cases.entries())
    for (const order of [created.keys().toArray(), created.keys().toArray().toReversed()]) {
      const organization = `${at} ${order}`;
      const runs = await Promise.all(created.map(() => checks.reserve(organization, request('shared'))));
      for (const run of order) {
        runs[run]!.finish(created[run]!);
        if (left === 1 && run !== order.at(-1)) await assert.rejects(checks.reserve(organization, request('early')));
      }
      await checks.writeFinished();
      const next = checks.reserve(organization, request('next'));
      await (left === 1 ? assert.doesNotReject(next) : assert.rejects(next));
      const { months, reservations } = await allowances.read(organization);
      assert.deepEqual([Object.values(months), Object.keys(reservations)], [[1], left === 1 ? ['next'] : []]);
    }
  await store.close();
});
