import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TARGET_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { Store } from '../../src/platform/store.ts';
import type { ScanRecord } from '../../src/scan/scan.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import { EVERYTHING, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../support/running-api.ts';
import { type RunningFarm, runningFarm } from '../support/running-farm.ts';
import { sampleScan } from '../support/sample-scan.ts';

const AD_TAG = { kind: 'ad_tag' as const, value: `<p>${'ä'.repeat(TARGET_LENGTH_MAX - 7)}</p>` };
const VAST_TAG = { kind: 'vast_tag' as const, value: `<VAST>${'x'.repeat(TARGET_LENGTH_MAX - 13)}</VAST>` };

/** A store that says which collections were read or written. */
function watched(store: Store, used: Set<string>): Store {
  return {
    ...store,
    collection: ((name: string) =>
      new Proxy(store.collection(name), {
        get: (target, key: 'find') => {
          const method = target[key].bind(target) as (...of: unknown[]) => unknown;
          return (...of: unknown[]) => {
            used.add(name);
            return method(...of);
          };
        },
      })) as Store['collection'],
  };
}

describe('ad tags and VAST documents', () => {
  let api: RunningApi;
  let farm: RunningFarm;
  before(async () => {
    [api, farm] = await Promise.all([runningApi(), runningFarm()]);
  });
  after(() => Promise.all([api.stop(), farm.stop()]));

  const ours = (changes: Partial<ScanRecord>) => sampleScan({ organization_id: ORGANIZATIONS.ours, ...changes });
  const inStore = (id: string) => api.store.collection<ScanRecord>('scans').findOne({ _id: id });

  it('are stored separately when scans are stored together; an existing scan is returned unchanged', async () => {
    const all = ['one', 'two', 'three'].map((id) => ours({ _id: `together-${id}`, target: AD_TAG }));
    const [one, two, three] = all as [ScanRecord, ScanRecord, ScanRecord];
    const again = { ...two, labels: { order: 'again' } };
    const answers = await Promise.all([two, one, again, three].map((scan) => api.scans.insertUnlessExists(scan)));
    assert.deepEqual(
      answers.map((answer) => answer && [answer._id, answer.labels]),
      [null, null, [two._id, two.labels], null],
    );
    for (const { _id } of all) assert.deepEqual((await inStore(_id))?.target, { kind: AD_TAG.kind, value: '' });
  });

  it('are stored separately from the scan, and are in the response to GET of the scan', async () => {
    for (const [field, target] of [
      ['ad_tag', AD_TAG],
      ['vast_tag', VAST_TAG],
    ] as const) {
      const scan = ours({ _id: `scan-with-${field}`, target });
      assert.equal(await api.scans.insertUnlessExists(scan), null);
      assert.equal((await api.scans.insertUnlessExists(scan))?._id, scan._id);
      assert.deepEqual((await inStore(scan._id))?.target, { kind: target.kind, value: '' });
      const { status, body } = await api.get(`/api/v1/scans/${scan._id}`);
      assert.equal(status, 200);
      assert.equal(body[field], target.value);
      assert.equal((await api.get(`/api/v1/scans/${scan._id}`, { key: KEYS.theirs })).status, 404);
    }
  });

  it('are not read for a page of the list, like all other fields that a row does not show', async () => {
    const used = new Set<string>();
    const scans = scanStore(watched(api.store, used));
    const { rows } = await scans.list(ORGANIZATIONS.ours, EVERYTHING, { after: null, skip: 0, limit: 200 });
    assert.deepEqual([...used], ['scans']);
    assert.ok(rows.length >= 2);
    for (const row of rows)
      for (const field of ['outbox', 'lease', 'exit', 'filter_keys', 'referrer'])
        assert.equal(field in row, false, field);
    const fieldsOfTags = rows.flatMap(({ tags }) => tags.flatMap(Object.keys));
    assert.deepEqual([...new Set(fieldsOfTags)], ['tag_slug']);
  });

  it('are in the lease', async () => {
    const scan = await farm.submit({ target: AD_TAG, job_kind: 'ad_tag' });
    const { job } = await farm.acquireOne();
    assert.deepEqual(
      job.members.map(({ scan_id, target }) => [scan_id, target]),
      [[scan._id, AD_TAG]],
    );
  });

  it('are in the leases of all scans that share one', async () => {
    const target_text_id = 'text-of-a-request';
    const organization_id = 'organization-of-a-request';
    const shared = { target: AD_TAG, target_text_id, organization_id, job_kind: 'ad_tag' as const };
    const scans = [await farm.submit(shared), await farm.submit(shared)];
    for (const { _id } of scans) assert.equal((await farm.read(_id)).target.value, '');
    const leased = [await farm.acquireOne(), await farm.acquireOne()];
    assert.deepEqual(
      leased.flatMap(({ job }) => job.members.map(({ scan_id, target }) => [scan_id, target])).sort(),
      scans.map(({ _id }) => [_id, AD_TAG]).sort(),
    );
    const texts = await farm.store.collection('scan_targets').find({ organization_id }).toArray();
    assert.deepEqual(
      texts.map(({ _id }) => _id as unknown),
      [target_text_id],
    );
  });

  it('are written before their scan, so that a repeated request completes an interrupted one', async () => {
    const scan = ours({ _id: 'interrupted', target: AD_TAG });
    const dying: Store = {
      ...api.store,
      collection: ((name: string) =>
        name === 'scans'
          ? { insertOne: () => Promise.reject(new Error('killed')) }
          : api.store.collection(name)) as unknown as Store['collection'],
    };
    await assert.rejects(scanStore(dying).insertUnlessExists(scan), /killed/);
    assert.equal(await api.scans.insertUnlessExists(scan), null);
    const stored = await api.scans.find(ORGANIZATIONS.ours, scan._id);
    assert.deepEqual((await api.scans.withTarget(stored!)).target, AD_TAG);
  });

  it('are removed with their scans, and only in the organization of the scan', async () => {
    const scan = ours({ _id: 'to-be-removed', target: AD_TAG });
    await api.scans.insertUnlessExists(scan);
    await api.scans.remove({ _id: scan._id, organization_id: ORGANIZATIONS.theirs });
    assert.deepEqual((await api.scans.withTarget((await inStore(scan._id))!)).target, AD_TAG);
    await api.scans.remove(scan);
    assert.equal(await inStore(scan._id), null);
    assert.equal(await api.store.collection<{ _id: string }>('scan_targets').findOne({ _id: scan._id }), null);
  });
});
