import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type LedgerPosting, scanPosting } from '../../../src/accounts/billing/ledger-entry.ts';
import { itemsOf, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const on = (day: number, hour = 12) => new Date(Date.UTC(2026, 2, day, hour));
const ours = (scanId: string) => ({ organizationId: ORGANIZATIONS.ours, scanId });

describe('the billing history', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
    const topUp: LedgerPosting = {
      ...scanPosting('refund', ours(''), 50_000, on(1)),
      _id: 'top-up',
      type: 'top_up_manual',
      description: 'Top-up',
      reference_kind: null,
      reference_id: null,
    };
    const entries = [
      topUp,
      scanPosting('charge', ours('a'), 10_000, on(2)),
      scanPosting('charge', ours('b'), 10_000, on(3)),
      scanPosting('refund', ours('b'), 10_000, on(4, 23)),
      scanPosting('charge', ours('free'), 0, on(5)),
      scanPosting('charge', { organizationId: ORGANIZATIONS.theirs, scanId: 'c' }, 10_000, on(3)),
    ];
    for (const entry of [...entries, ...entries]) await api.ledger.book(entry);
  });
  after(() => api.stop());

  const history = async (query = '', key = KEYS.ours) =>
    (await api.get(`/api/v1/billing/history${query}`, { key })).body;
  const ids = async (query: string) => (await history(query)).items.map(({ id }: { id: string }) => id);

  test('§2.8.1 entries have a type and a signed amount, newest first, each booked once', async () => {
    const { items, total, pages } = await history();
    assert.equal(total, 5);
    assert.equal(pages, 1);
    assert.deepEqual(
      items.map(({ id, type, amount_micros, balance_after_micros }: Record<string, unknown>) => [
        ...[id, type, amount_micros, balance_after_micros],
      ]),
      [
        ['charge:free', 'usage_charge', 0, 40_000],
        ['refund:b', 'refund', 10_000, 40_000],
        ['charge:b', 'usage_charge', -10_000, 30_000],
        ['charge:a', 'usage_charge', -10_000, 40_000],
        ['top-up', 'top_up_manual', 50_000, 50_000],
      ],
    );
  });

  test('§4.5.8 the entries of a scan are its charge and its refund, to its organization alone', async () => {
    assert.deepEqual(await ids('?scan_id=b'), ['refund:b', 'charge:b']);
    assert.deepEqual(await ids('?scan_id=b&type=refund'), ['refund:b']);
    assert.deepEqual(await ids('?scan_id=b&date_to=2026-03-03'), ['charge:b']);
    assert.deepEqual(await ids('?scan_id=b&limit=1&page=2'), ['charge:b']);
    assert.deepEqual(await ids('?scan_id=c'), []);
    assert.equal((await history('?scan_id=c', KEYS.theirs)).total, 1);
  });

  test('an entry has every field, and refers to its scan', async () => {
    const [entry] = (await history('?type=refund')).items;
    assert.deepEqual(entry, {
      id: 'refund:b',
      type: 'refund',
      amount_micros: 10_000,
      balance_after_micros: 40_000,
      description: 'Check refunded',
      reference_kind: 'scan',
      reference_id: 'b',
      document_number: null,
      actor_user_id: null,
      created_at: on(4, 23).toISOString(),
    });
  });

  test('the type filter is repeatable and days are inclusive; balances are those of the complete ledger', async () => {
    assert.deepEqual(await ids('?type=refund&type=top_up_manual'), ['refund:b', 'top-up']);
    assert.deepEqual(await ids('?date_from=2026-03-03&date_to=2026-03-04'), ['refund:b', 'charge:b']);
    const { items } = await history('?type=usage_charge&page=2&limit=1');
    assert.deepEqual([items[0].id, items[0].balance_after_micros], ['charge:b', 30_000]);
  });

  test('unknown types, and a first day after the last, are refused', async () => {
    const answer = await api.get('/api/v1/billing/history?type=gift&date_from=2026-03-02&date_to=2026-03-01');
    assert.deepEqual(itemsOf(answer), ['query.type.0 enum', 'query.date_from invalid_combination']);
  });

  test('an organization reads only its own entries', async () => {
    const { items } = await history('', KEYS.theirs);
    assert.deepEqual([items.length, items[0].balance_after_micros], [1, -10_000]);
  });
});
