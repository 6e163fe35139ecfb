import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { ApiError } from '../../../src/http/api-error.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import type { CreateStep, ScanOrder } from '../../../src/scanning/scans/request/create-scans.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../../support/running-api.ts';
import { CATALOGUE } from '../../support/sample-catalogue.ts';

const COUNTRIES = Array.from({ length: 50 }, (_, n) => `A${n}`);
const EMULATOR_IDS = EMULATORS.slice(0, 10).map(({ id }) => id);
const { country_code: _, ...SETTINGS } = PAGE;

describe('createScans', () => {
  let api: RunningApi;
  before(async () => {
    const [pool] = CATALOGUE.pools;
    const pools = COUNTRIES.map((country_code) => ({ ...pool!, country_code }));
    api = await runningApi({ catalogue: { ...CATALOGUE, pools: [...CATALOGUE.pools, ...pools] } });
  });
  beforeEach(async () => {
    await api.domains.accounts.verbs.writeFinishedReservations();
    for (const name of ['scans', 'allowances']) await api.store.collection(name).deleteMany({});
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { quotas: { checks_per_month: null } });
  });
  after(() => api.stop());

  const orderOf = (changes: Partial<ScanOrder> = {}): ScanOrder => ({
    ...{ settings: SETTINGS, countries: ['US', 'PT'], organizationId: ORGANIZATIONS.ours },
    ...{ requestId: newId(), isRepeatable: true },
    ...changes,
  });
  const create = (order: ScanOrder, step?: CreateStep) => api.domains.scanning.verbs.createScans(order, step);
  const stored = () => api.store.collection<ScanRecord>('scans').find({}).toArray();
  const used = async () => {
    const { months } = await api.accounts.allowances.read(ORGANIZATIONS.ours);
    return Object.values(months).reduce((sum, checks) => sum + checks, 0);
  };
  /** Creates an order step by step from where it was left; `began` is called with where each step begins. */
  async function run(order: ScanOrder, scans: number, began: (from: number) => void = () => {}, from = 0) {
    for (let at: number | null = from; at !== null; at = (await create(order, { from: at, scans })).next) began(at);
  }
  /** Has the process die when it has written `count` more scans, until the function it returns is called. */
  function dieAfter(count: number): () => void {
    const { insertUnlessThere } = api.scans;
    let left = count;
    api.scans.insertUnlessThere = async (scan) => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return insertUnlessThere(scan);
    };
    return () => {
      api.scans.insertUnlessThere = insertUnlessThere;
    };
  }

  it('creates a group for each country and emulator, queued with those of many', async () => {
    const emulators = EMULATOR_IDS.slice(0, 3);
    const { groups, next } = await create(orderOf({ emulators, settings: { ...SETTINGS, repeat_count: 2 } }));
    assert.equal(next, null);
    assert.deepEqual(
      groups.map(([leader]) => [leader!.country_code, leader!.emulator_id]),
      ['US', 'PT'].flatMap((country) => emulators.map((emulator) => [country, emulator])),
    );
    for (const group of groups) {
      assert.deepEqual(
        group.map(({ repeat, band }) => [repeat?.index, repeat?.total, band]),
        [
          [0, 2, 1],
          [1, 2, 1],
        ],
      );
    }
    assert.deepEqual([(await stored()).length, await used()], [12, 12]);
  });

  it('creates nothing twice when a step is repeated', async () => {
    const order = orderOf({ emulators: EMULATOR_IDS });
    const step = { from: 4, scans: 8 };
    const first = await create(order, step);
    const again = await create(order, step);
    assert.equal(first.next, 12);
    assert.deepEqual(
      again.groups.flat().map(({ _id }) => _id),
      first.groups.flat().map(({ _id }) => _id),
    );
    assert.deepEqual([(await stored()).length, await used()], [8, 8]);
    await Promise.all([create(order, step), create(order, { from: 8, scans: 8 })]);
    const scans = await stored();
    assert.equal(scans.length, 12, 'steps that overlap share their scans');
    assert.equal(new Set(scans.flatMap(({ outbox }) => outbox.map(({ id }) => id))).size, 12);
  });

  it('goes on where a process died, in a step or between two', async () => {
    const order = orderOf({ emulators: EMULATOR_IDS, settings: { ...SETTINGS, repeat_count: 3 } });
    const began: number[] = [];
    const live = dieAfter(25);
    await assert.rejects(
      run(order, 18, (from) => began.push(from)),
      /killed/,
    );
    live();
    assert.deepEqual([began, (await stored()).length], [[0, 6], 25]);
    await run(order, 18, () => {}, began.at(-1)!);
    await api.domains.accounts.verbs.writeFinishedReservations();
    const scans = await stored();
    assert.deepEqual([scans.length, await used()], [60, 60]);
    for (const { _id, outbox } of scans)
      assert.deepEqual(
        outbox.map((entry) => [entry.id, 'amount_micros' in entry && entry.amount_micros]),
        [[`charge:${_id}`, PRICE_MICROS]],
      );
  });

  it('creates 10,000 scans in steps of at most 500', async () => {
    const settings = { ...SETTINGS, repeat_count: 20 };
    const order = orderOf({ countries: COUNTRIES, emulators: EMULATOR_IDS, settings });
    const sizes: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const step = await create(order, { from, scans: 500 });
      sizes.push(step.groups.flat().length);
      from = step.next;
    }
    assert.deepEqual(sizes, Array(20).fill(500));
    assert.deepEqual([await api.store.collection('scans').countDocuments({}), await used()], [10_000, 10_000]);
  });

  it('refuses the step that the quota no longer covers, and keeps those before it', async () => {
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { quotas: { checks_per_month: 15 } });
    const order = orderOf({ emulators: EMULATOR_IDS });
    await assert.rejects(run(order, 10), ({ code }: ApiError) => code === 'billing.quota_exhausted');
    assert.deepEqual([(await stored()).length, await used()], [10, 10]);
  });

  it('reports every problem of an order, that of a later emulator too, and creates nothing', async () => {
    const problemsOf = (order: ScanOrder) =>
      create(order).then(
        () => [],
        ({ status, detail }: ApiError) => [status, ...(detail as Issue[]).map(({ type }) => type)],
      );
    const unknown = { settings: { ...SETTINGS, url: 'http://10.0.0.1/' }, countries: ['US', 'XX'] };
    assert.deepEqual(await problemsOf(orderOf(unknown)), [422, 'url_private_host', 'unsupported_country_code']);
    const emulators = [EMULATOR_IDS[0]!, 'toaster'];
    assert.deepEqual(await problemsOf(orderOf({ emulators })), [422, 'unknown_emulator_id']);
    assert.equal((await stored()).length, 0);
  });
});
