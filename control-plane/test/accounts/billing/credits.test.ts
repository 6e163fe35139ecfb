import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { addFirstOrganization } from '../../../src/accounts/add-organization.ts';
import {
  itemsOf,
  type Json,
  KEYS,
  ORGANIZATIONS,
  PAGE,
  type RunningApi,
  runningApi,
} from '../../support/running-api.ts';

const OPERATORS = 'key-of-the-operator';
const CREDITS = `/api/v1/organizations/${ORGANIZATIONS.ours}/credits`;
const TOP_UP = {
  amount_micros: 50_000,
  type: 'top_up_manual',
  description: 'Bank transfer',
  document_number: 'INV-17',
};

describe('credits by the operator', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi({ settings: { startBalanceMicros: 0 } });
    await addFirstOrganization(api.accounts, OPERATORS, new Date());
  });
  after(() => api.stop());

  const credit = (body: object, sent: object = {}) => api.post(CREDITS, body, { key: OPERATORS, ...sent });
  const balance = async () => (await api.get('/api/v1/billing')).body.balance_micros;
  const history = async (): Promise<Json[]> => (await api.get('/api/v1/billing/history')).body.items;

  it('§5.17 answers the entry of the ledger, with the document and who booked it, and can be spent at once', async () => {
    const refused = await api.post('/api/v1/scans', PAGE);
    assert.deepEqual([refused.status, refused.body.code], [403, 'billing.insufficient_funds']);
    const { status, body } = await credit(TOP_UP);
    assert.equal(status, 201);
    const { id, created_at, actor_user_id, ...entry } = body;
    assert.deepEqual(entry, {
      ...TOP_UP,
      ...{ balance_after_micros: 50_000, reference_kind: null, reference_id: null },
    });
    const operator = await api.get('/api/v1/account/api-keys', { key: OPERATORS });
    assert.equal(actor_user_id, operator.body[0].id);
    assert.deepEqual((await history())[0], body);
    assert.equal(await balance(), 50_000);
    assert.equal((await api.post('/api/v1/scans', PAGE)).status, 201);
  });

  it('§5.17 is booked once by a repeated request, also if the outbox books it too', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const before = await balance();
    const answers = await Promise.all([credit(TOP_UP, { headers }), credit(TOP_UP, { headers })]);
    assert.ok(answers.every(({ status }) => status === 201 || status === 409));
    const again = await credit(TOP_UP, { headers });
    assert.equal(again.status, 201);
    const { outbox } = (await api.accounts.organizations.find(ORGANIZATIONS.ours))!;
    const entries = outbox.filter((entry) => entry.kind === 'credit');
    assert.ok(entries.some(({ id }) => id === again.body.id));
    const origin = { organizationId: ORGANIZATIONS.ours, scanId: '', campaignId: null };
    for (const entry of entries) await api.domains.accounts.outboxHandlers.credit(entry, origin);
    assert.equal(await balance(), before + 50_000);
    assert.equal((await history()).filter(({ id }) => id === again.body.id).length, 1);
  });

  it('§5.14 §5.17 a request that is run again after an interruption is booked and audited once', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const first = await credit(TOP_UP, { headers });
    const unanswered = { $set: { answer: null, started_at: new Date(0) } };
    await api.store.collection<Json>('idempotency_keys').updateMany({}, unanswered);
    assert.deepEqual((await credit(TOP_UP, { headers })).body, first.body);
    const { outbox } = (await api.accounts.organizations.find(ORGANIZATIONS.ours))!;
    const [audited, again] = outbox.filter(({ kind }) => kind === 'audit').slice(-2);
    assert.equal(audited!.id, again!.id, 'the audit log has an id once');
  });

  it('§5.17 an interrupted request is completed by the outbox', async () => {
    const before = await balance();
    const at = new Date();
    const entry = {
      ...TOP_UP,
      type: 'top_up_manual',
      id: `credit:${newId()}`,
      kind: 'credit',
      at,
      actor_id: 'key',
    } as const;
    const origin = { organizationId: ORGANIZATIONS.ours, scanId: '', campaignId: null };
    await api.domains.accounts.outboxHandlers.credit(entry, origin);
    assert.equal(await balance(), before + 50_000);
  });

  it('§5.17 a correction may be negative, and the balance too; a payment may not, and neither is 0', async () => {
    const before = await balance();
    const correction = { type: 'admin_adjustment', description: 'Booked twice' };
    const { body } = await credit({ ...correction, amount_micros: -1_000_000 });
    assert.deepEqual([body.amount_micros, body.document_number], [-1_000_000, null]);
    assert.equal(await balance(), before - 1_000_000);
    assert.equal((await api.post('/api/v1/scans', PAGE)).body.code, 'billing.insufficient_funds');
    const wrong: [body: object, items: string[]][] = [
      [{ ...TOP_UP, amount_micros: -1 }, ['body.amount_micros greater_than']],
      [{ ...TOP_UP, amount_micros: 0 }, ['body.amount_micros greater_than']],
      [{ ...correction, amount_micros: 0 }, ['body.amount_micros greater_than']],
      [{ ...TOP_UP, amount_micros: 1e13 }, ['body.amount_micros less_than_equal']],
      [{ ...TOP_UP, amount_micros: 0.5 }, ['body.amount_micros int_type']],
      [{ ...TOP_UP, type: 'refund' }, ['body.type enum']],
      [
        { ...TOP_UP, description: ' ', document_number: ' ' },
        ['body.description string_pattern_mismatch', 'body.document_number string_pattern_mismatch'],
      ],
      [{ ...TOP_UP, balance: 1 }, ['body.balance unexpected_field']],
    ];
    const count = (await history()).length;
    for (const [sent, items] of wrong)
      assert.deepEqual(itemsOf(await credit(sent)).toSorted(), items, JSON.stringify(sent));
    assert.equal((await history()).length, count);
  });

  it('§5.17 belongs to the operator, and to an organization that exists', async () => {
    for (const key of [KEYS.ours, KEYS.theirs]) assert.equal((await credit(TOP_UP, { key })).status, 403);
    const unknown = `/api/v1/organizations/${newId()}/credits`;
    assert.equal((await api.post(unknown, TOP_UP, { key: OPERATORS })).status, 404);
  });

  it('§4.5.7 usage is one row for each charged check, and those of one scan or period', async () => {
    await credit({ ...TOP_UP, amount_micros: 2_000_000 });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await api.post('/api/v1/scans', PAGE)).body.id);
    const relay = async (id: string) => {
      const scan = (await api.scans.find(ORGANIZATIONS.ours, id))!;
      const origin = { organizationId: ORGANIZATIONS.ours, scanId: id, campaignId: null };
      for (const entry of scan.outbox)
        if (entry.kind === 'charge') await api.domains.accounts.outboxHandlers.charge(entry, origin);
    };
    for (const id of ids) await relay(id);
    const read = async (query: string, key = KEYS.ours) =>
      (await api.get(`/api/v1/billing/usage?${query}`, { key })).body;
    const all = await read('limit=2');
    assert.deepEqual(
      all.items.map(({ scan_id }: Json) => scan_id),
      [ids[2], ids[1]],
    );
    const [first] = all.items;
    const { balance_after_micros } = (await history())[0]!;
    const { id, created_at, ...row } = first;
    assert.deepEqual(row, {
      ...{ scan_id: ids[2], charged_micros: 10_000, balance_after_micros, within_plan: false, event_type: 'url' },
    });
    assert.equal((await read(`scan_id=${ids[0]}`)).items[0].scan_id, ids[0]);
    assert.equal((await read(`scan_id=${ids[0]}`, KEYS.theirs)).total, 0);
    assert.equal((await read('scan_id=nothing')).total, 0);
    const day = created_at.slice(0, 10);
    assert.equal((await read(`date_from=${day}&date_to=${day}`)).total, all.total);
    assert.equal((await read(`date_from=${created_at}`)).items[0].id, id);
    assert.equal((await read(`date_to=2026-01-01T00:00:00Z`)).total, 0);
    assert.equal((await read(`date_to=2026-01-01&scan_id=${ids[0]}`)).total, 0);
    const wrong = await api.get('/api/v1/billing/usage?date_from=2026-02-01&date_to=2026-01-01T00:00:00Z');
    assert.deepEqual(itemsOf(wrong), ['query.date_from invalid_combination']);
    for (const [from, to] of [
      ['2026-01-02', '2026-01-02T00:00:00%2B05:00'],
      ['2026-01-01T23:00:00-12:00', '2026-01-02T01:00:00Z'],
    ]) {
      const late = await api.get(`/api/v1/billing/usage?date_from=${from}&date_to=${to}`);
      assert.deepEqual(itemsOf(late), ['query.date_from invalid_combination'], `${from} is after ${to}`);
    }
    assert.equal((await api.get('/api/v1/billing/usage?date_from=yesterday')).status, 422);
  });
});
