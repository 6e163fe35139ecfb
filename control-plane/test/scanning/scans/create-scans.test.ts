import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { EMULATORS } from '@adsweep/shared/scan/emulators.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { MongoServerError } from 'mongodb';
import { slow } from '../../../../shared/test/support/slow.ts';
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
    for (const name of ['scans', 'scan_targets', 'allowances']) await api.store.collection(name).deleteMany({});
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
  /** Creates the rest of an order step by step; `began` is called with the start of each step. */
  async function run(order: ScanOrder, scans: number, began: (from: number) => void = () => {}, from = 0) {
    for (let at: number | null = from; at !== null; at = (await create(order, { from: at, scans })).next) began(at);
  }
  /** Simulates a crash after `count` more scans were written, until the returned function is called. */
  function dieAfter(count: number): () => void {
    const { insertUnlessExists } = api.scans;
    let left = count;
    api.scans.insertUnlessExists = async (scan) => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return insertUnlessExists(scan);
    };
    return () => {
      api.scans.insertUnlessExists = insertUnlessExists;
    };
  }

  it('creates a group for each country and emulator, in the priority class of bulk requests', async () => {
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

  it('continues after a crash in a step or between two steps', async () => {
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

  describe('of an ad tag', () => {
    const AD_TAG = `<p>${'x'.repeat(40_000)}</p>`;
    const { url: _url, ...others } = SETTINGS;
    const adTag = { ...others, ad_tag: AD_TAG };
    const texts = () =>
      api.store.collection<{ _id: string; organization_id: string }>('scan_targets').find({}).toArray();
    const targetsOf = async (scans: ScanRecord[]) =>
      Promise.all(scans.map(async (scan) => (await api.scans.withTarget(scan)).target));

    it('stores the text of 60 scans once, in one write, and each scan reads it', async () => {
      let writes = 0;
      const stop = api.intercept('scan_targets', 'updateOne', async () => {
        writes += 1;
      });
      await create(orderOf({ settings: { ...adTag, repeat_count: 3 }, emulators: EMULATOR_IDS }));
      stop();
      const scans = await stored();
      assert.deepEqual([scans.length, (await texts()).length, writes], [60, 1, 1]);
      for (const { target } of scans) assert.deepEqual(target, { kind: 'ad_tag', value: '' });
      for (const target of await targetsOf(scans)) assert.deepEqual(target, { kind: 'ad_tag', value: AD_TAG });
    });

    it('stores the text once where a process died in a step and the step is repeated', async () => {
      const order = orderOf({ settings: { ...adTag, repeat_count: 3 }, emulators: EMULATOR_IDS });
      const live = dieAfter(25);
      const began: number[] = [];
      await assert.rejects(
        run(order, 18, (from) => began.push(from)),
        /killed/,
      );
      live();
      for (const target of await targetsOf(await stored())) assert.equal(target.value, AD_TAG);
      await run(order, 18, () => {}, began.at(-1)!);
      const scans = await stored();
      assert.deepEqual([scans.length, (await texts()).length], [60, 1]);
      for (const target of await targetsOf(scans)) assert.equal(target.value, AD_TAG);
    });

    it('creates the scans where another process inserts the text at the same moment', async () => {
      const refusal = new MongoServerError({ message: 'E11000 duplicate key', code: 11000 });
      let stop = () => {};
      stop = api.intercept('scan_targets', 'updateOne', () => {
        stop();
        return Promise.reject(refusal);
      });
      await create(orderOf({ settings: adTag }));
      for (const target of await targetsOf(await stored())) assert.equal(target.value, AD_TAG);
      assert.deepEqual([(await stored()).length, (await texts()).length], [2, 1]);
    });

    it('stores the same text again for another request and another organization, and a changed text of the same request', async () => {
      const order = orderOf({ settings: adTag });
      const changed = { ...adTag, ad_tag: '<b>changed</b>' };
      await create(order, { from: 0, scans: 1 });
      await create({ ...order, settings: changed }, { from: 1, scans: 1 });
      await create({ ...order, requestId: newId() });
      await create({ ...order, requestId: newId(), organizationId: ORGANIZATIONS.theirs });
      const scans = await stored();
      const read = await targetsOf(scans);
      assert.equal((await texts()).length, 4);
      assert.deepEqual(
        scans.map(({ country_code, organization_id }, at) => [organization_id, country_code, read[at]!.value]).sort(),
        [
          [ORGANIZATIONS.ours, 'PT', AD_TAG],
          [ORGANIZATIONS.ours, 'PT', changed.ad_tag],
          [ORGANIZATIONS.ours, 'US', AD_TAG],
          [ORGANIZATIONS.ours, 'US', AD_TAG],
          [ORGANIZATIONS.theirs, 'PT', AD_TAG],
          [ORGANIZATIONS.theirs, 'US', AD_TAG],
        ].sort(),
      );
    });

    it('keeps the texts of two organizations apart, even where their requests have the same id', async () => {
      const order = orderOf({ settings: adTag });
      await create(order);
      await assert.rejects(create({ ...order, organizationId: ORGANIZATIONS.theirs }), /scan of another organization/);
      const found = await texts();
      assert.deepEqual(
        found.map(({ organization_id }) => organization_id).sort(),
        [ORGANIZATIONS.ours, ORGANIZATIONS.theirs].sort(),
      );
      for (const target of await targetsOf(await stored())) assert.equal(target.value, AD_TAG);
    });

    it('stores the text of a single scan under the id of the scan', async () => {
      const { groups } = await create(orderOf({ settings: adTag, countries: ['US'] }));
      const [scan] = groups[0]!;
      assert.equal((await stored())[0]?.target_text_id, undefined);
      assert.deepEqual(
        (await texts()).map(({ _id }) => _id),
        [scan!._id],
      );
    });
  });

  it('creates 2,500 scans in steps of at most 500', slow, async () => {
    const settings = { ...SETTINGS, repeat_count: 5 };
    const order = orderOf({ countries: COUNTRIES, emulators: EMULATOR_IDS, settings });
    const sizes: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const step = await create(order, { from, scans: 500 });
      sizes.push(step.groups.flat().length);
      from = step.next;
    }
    assert.deepEqual(sizes, Array(5).fill(500));
    assert.deepEqual([await api.store.collection('scans').countDocuments({}), await used()], [2_500, 2_500]);
  });

  it('refuses the step that exceeds the quota, and keeps those before it', async () => {
    await api.accounts.organizations.change(ORGANIZATIONS.ours, { quotas: { checks_per_month: 15 } });
    const order = orderOf({ emulators: EMULATOR_IDS });
    await assert.rejects(run(order, 10), ({ code }: ApiError) => code === 'billing.quota_exhausted');
    assert.deepEqual([(await stored()).length, await used()], [10, 10]);
  });

  it('reports every problem of an order, including those of a later emulator, and creates nothing', async () => {
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
