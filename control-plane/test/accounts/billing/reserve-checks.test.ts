import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowanceStore } from '../../../src/accounts/billing/allowance-store.ts';
import { checkReservations } from '../../../src/accounts/billing/reserve-checks.ts';
import { openStore } from '../../../src/platform/store.ts';

test('checks that are being returned to an allowance can be reserved by the next request', async () => {
  const store = await openStore({ path: ':memory:' });
  const kept = allowanceStore(store);
  const mayWrite = Promise.withResolvers<void>();
  const allowances = {
    ...kept,
    finish: (...args: Parameters<typeof kept.finish>) => mayWrite.promise.then(() => kept.finish(...args)),
  };
  const limitsOf = async () => ({ checks_per_month: 1, hasBalance: true });
  const checks = checkReservations({ allowances, limitsOf, grantStart: async () => undefined });
  const reserve = (id: string) =>
    checks.reserve('one', {
      id,
      names: [id],
      indexes: [0],
      checks: 1,
      priceMicros: 0,
      isRepeatable: true,
      now: new Date(),
    });
  (await reserve('unused')).finish(0);
  const written = checks.writeFinished();
  await Promise.resolve();
  const reserved = reserve('next');
  setTimeout(mayWrite.resolve, 20);
  await assert.doesNotReject(reserved);
  await written;
  await store.close();
});
