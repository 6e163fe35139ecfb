import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LedgerEntry, type LedgerPosting, scanPosting } from '../../../src/accounts/billing/ledger-entry.ts';
import { type LedgerStore, ledgerStore } from '../../../src/accounts/billing/ledger-store.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const posting = (number: number, organizationId: string): LedgerPosting =>
  scanPosting(
    number % 5 === 0 ? 'refund' : 'charge',
    { organizationId, scanId: `${organizationId}-${number}` },
    10,
    at(number),
  );
const ALL = { types: null, created: null };

describe('the ledger', () => {
  let store: Store;
  let ledger: LedgerStore;
  before(async () => {
    store = await openStore({ path: ':memory:' });
    ledger = ledgerStore(store);
    await ledger.createIndexes();
  });
  after(() => store.close());

  it('§4.5.3 numbers an organization’s entries without gaps and adds up their amounts under concurrent bookings', async () => {
    const postings = Array.from({ length: 40 }, (_, number) => posting(number, 'busy'));
    const writers = [ledgerStore(store), ledgerStore(store), ledgerStore(store)];
    await Promise.all([...postings, ...postings].map((one, index) => writers[index % writers.length]!.book(one)));
    const { rows, total } = await ledger.list('busy', ALL, 0, 200);
    assert.equal(total, 40);
    const oldestFirst = rows.toReversed();
    assert.deepEqual(
      oldestFirst.map(({ sequence }) => sequence),
      postings.map((_, index) => index + 1),
    );
    let balance = 0;
    for (const entry of oldestFirst) {
      balance += entry.amount_micros;
      assert.equal(entry.balance_after_micros, balance);
    }
  });

  it('returns the pages that a filter over all entries would, by type and by day', async () => {
    for (let number = 0; number < 60; number += 1) await ledger.book(posting(number, 'paged'));
    const all = (await ledger.list('paged', ALL, 0, 200)).rows;
    const types = [null, ['refund' as const], ['usage_charge' as const, 'refund' as const], ['top_up_manual' as const]];
    const spans = [null, { $gte: at(10) }, { $lt: at(31) }, { $gte: at(10), $lt: at(31) }, { $gte: at(90) }];
    for (const type of types)
      for (const created of spans)
        for (const skip of [0, 3, 11, 70]) {
          const matching = all.filter((entry) => isOf(entry, type) && isWithin(entry, created));
          const { rows, total } = await ledger.list('paged', { types: type, created }, skip, 5);
          assert.equal(total, matching.length);
          assert.deepEqual(
            rows.map(({ _id }) => _id),
            matching.slice(skip, skip + 5).map(({ _id }) => _id),
          );
        }
  });

  it('never dates an entry before its predecessor', async () => {
    await ledger.book(posting(9, 'late'));
    const entry = await ledger.book(posting(3, 'late'));
    assert.deepEqual([entry.sequence, entry.created_at], [2, at(9)]);
  });
});

const isOf = ({ type }: LedgerEntry, types: string[] | null) => types === null || types.includes(type);
function isWithin({ created_at }: LedgerEntry, span: { $gte?: Date; $lt?: Date } | null): boolean {
  return !span || ((!span.$gte || created_at >= span.$gte) && (!span.$lt || created_at < span.$lt));
}
