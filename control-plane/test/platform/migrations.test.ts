import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { scanPosting } from '../../src/accounts/billing/ledger-entry.ts';
import { ledgerStore } from '../../src/accounts/billing/ledger-store.ts';
import { newOrganization, type OrganizationRecord } from '../../src/accounts/organizations/organization.ts';
import { type ControlPlane, startControlPlane } from '../../src/compose/start-control-plane.ts';
import { readConfig } from '../../src/config.ts';
import { bringUpToDate } from '../../src/platform/migrations/bring-up-to-date.ts';
import type { Migration } from '../../src/platform/migrations/migration.ts';
import { initialOutbox } from '../../src/platform/outbox/outbox-source.ts';
import { type Document, openStore, type Store } from '../../src/platform/store.ts';
import { filterKeysOf } from '../../src/scan/filter-keys.ts';
import { scanStore } from '../../src/scan/scan-store.ts';
import type { StoredScan } from '../../src/scan/stored-scan.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { sampleScan } from '../support/sample-scan.ts';

const FIXTURE = new URL('../fixtures/data-folder-0/', import.meta.url);
const logger = createLogger('test', 'silent');

type Reads = {
  api_key: string;
  reads: Record<string, { status: number; type: string; body?: object; sha256?: string }>;
};

type Told = { emulator_id: string; url: string; resource_type?: string; children?: Told[] };

/**
 * A read as of today: a device is called what the catalogue calls it now, whenever it was scanned with, and the
 * requests of a hop are those that its document made, without its own.
 */
const asOfToday = (body: object): object =>
  JSON.parse(JSON.stringify(body), function (this: Told, key: string, value: unknown) {
    if (key === 'emulator_display_name') return findEmulator(this.emulator_id)?.display_name;
    if (key !== 'sub_requests') return value;
    const [own, ...others] = value as Told[];
    return own?.url === this.url && own.resource_type === 'document' ? [...(own.children ?? []), ...others] : value;
  });

describe('a data folder of version 0', () => {
  let redis: PrivateRedis;
  let folder: string;
  let plane: ControlPlane;
  const { api_key, reads } = JSON.parse(readFileSync(new URL('reads.json', FIXTURE), 'utf8')) as Reads;
  before(async () => {
    [redis, folder] = await Promise.all([startRedis(), mkdtemp(join(tmpdir(), 'adsweep-migrations-'))]);
    execFileSync('tar', ['-xzf', new URL('data-folder.tar.gz', FIXTURE).pathname, '-C', folder]);
    const config = readConfig({
      ADSWEEP_HTTP_PORT: '0',
      ADSWEEP_NODE_API_PORT: '0',
      ADSWEEP_PUBLIC_URL: 'https://adsweep.example',
      // The responses are of a version that had none.
      ADSWEEP_CONSOLE: 'off',
      ADSWEEP_DATA_DIR: folder,
      ADSWEEP_NODE_TOKEN: 'a-node-token-that-is-long-enough',
      ADSWEEP_LEASE_SECRET: 'a-lease-secret-that-is-long-enough',
      ADSWEEP_API_KEY: api_key,
      REDIS_URL: redis.url,
    });
    plane = await startControlPlane(config, logger);
  });
  after(async () => {
    for (const [, stop] of plane.stops) await stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [path, expected] of Object.entries(reads))
    it(`answers ${path} as before`, async () => {
      const answer = await fetch(`http://127.0.0.1:${plane.ports.http}${path}`, {
        headers: { authorization: `Bearer ${api_key}` },
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [expected.status, expected.type]);
      if (expected.body) assert.partialDeepStrictEqual(JSON.parse(bytes.toString()), asOfToday(expected.body));
      if (expected.sha256) assert.equal(createHash('sha256').update(bytes).digest('hex'), expected.sha256);
    });
});

describe('a scan of version 2', () => {
  it('is the only member of a crawl job of its own', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 2 });
    const scans = store.collection<{ _id: string; target: { kind: string } }>('scans');
    await scans.insertMany([
      { _id: 'a', target: { kind: 'url' } },
      { _id: 'b', target: { kind: 'vast_tag' } },
    ]);
    await bringUpToDate(store, logger);
    const jobs = await scans.find({}).sort({ _id: 1 }).toArray();
    assert.partialDeepStrictEqual(jobs, [
      { _id: 'a', job_id: 'a', job_kind: 'page', slot: 0, parent_scan_id: null },
      { _id: 'b', job_id: 'b', job_kind: 'vast_tag', slot: 0, parent_scan_id: null },
    ]);
    await store.close();
  });
});

describe('a scan of version 3', () => {
  it('has the keys that lists are filtered by, and its report token no unique index', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 3 });
    const scans = store.collection<StoredScan>('scans');
    await scans.createIndex({ report_token: 1 }, { unique: true });
    // Of the class of planned scans, whose run has no further key: version 3 had no runs.
    const sample = sampleScan({ band: 2 });
    const { filter_keys, ...old } = { ...sample, filter_keys: filterKeysOf(sample) };
    await scans.insertOne(old as StoredScan);
    await bringUpToDate(store, logger);
    await scanStore(store).createIndexes();
    assert.deepEqual((await scans.findOne({}))?.filter_keys, filter_keys);
    assert.ok(filter_keys.includes('ai_category:shopping/sweepstakes'));
    const index = (await scans.indexes()).find(({ name }) => name === 'report_token_1');
    assert.deepEqual([index?.key, index?.unique], [{ report_token: 1 }, undefined]);
    await store.close();
  });
});

describe('an ad tag of version 4', () => {
  it('is moved out of its scan, also after an interruption', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 4 });
    const scans = store.collection<StoredScan>('scans');
    const scan = { ...sampleScan({ target: { kind: 'ad_tag', value: '<b>ad</b>' } }), filter_keys: [] };
    const moved = { ...scan, _id: 'moved', target: { kind: 'vast_tag' as const, value: '<VAST/>' } };
    await scans.insertMany([scan, moved]);
    const { organization_id } = scan;
    await store
      .collection<Document & { _id: string }>('scan_targets')
      .insertOne({ _id: 'moved', organization_id, text: '<VAST/>' });
    await bringUpToDate(store, logger);
    const read = scanStore(store);
    for (const { _id, target } of [scan, moved]) {
      const stored = await read.find(organization_id, _id);
      assert.equal(stored?.target.value, '');
      assert.deepEqual((await read.withTarget(stored!)).target, target);
    }
    await store.close();
  });
});

describe('accounts of version 5', () => {
  it("have a status and no limits, and the key from the environment is the operator's", async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 5 });
    const keys = store.collection<{ _id: string; source?: string; permissions: string[] }>('api_keys');
    const permissions = ['scans.read', 'fleet.manage'];
    await keys.insertMany([
      { _id: 'older', permissions },
      { _id: 'first', source: 'environment', permissions },
      { _id: 'other', source: 'api', permissions },
    ]);
    const organizations = store.collection<OrganizationRecord>('organizations');
    const organization = newOrganization({ _id: 'one', name: 'One' }, new Date(0));
    const { _id, name, created_at } = organization;
    await organizations.insertOne({ _id, name, created_at } as OrganizationRecord);
    await bringUpToDate(store, logger);
    assert.deepEqual(await organizations.findOne({}), organization);
    const operators = [...permissions, 'organizations.manage', 'fleet.read'];
    assert.deepEqual(
      (await keys.find({}).sort({ _id: 1 }).toArray()).map((key) => [key._id, key.permissions]),
      [
        ['first', operators],
        ['older', operators],
        ['other', permissions],
      ],
    );
    await store.close();
  });
});

describe('migrations', () => {
  let store: Store;
  before(async () => {
    store = await openStore({ path: ':memory:' });
    const scans = Array.from({ length: 1_200 }, (_, number) => ({ _id: String(number).padStart(5, '0') }));
    await store.collection<{ _id: string }>('scans').insertMany(scans);
  });
  after(() => store.close());

  const doubled = (version: number, diesAfter = Number.POSITIVE_INFINITY): Migration => ({
    version,
    name: `step ${version}`,
    async run(target, checkpoint) {
      const scans = target.collection<{ _id: string; step?: number; times?: number }>('scans');
      for (let batches = 0; ; batches += 1) {
        if (batches === diesAfter) throw new Error('killed');
        const next = await scans
          .find({ step: { $ne: version } })
          .limit(500)
          .toArray();
        if (next.length === 0) return;
        for (const { _id } of next) await scans.updateOne({ _id }, { $set: { step: version }, $inc: { times: 1 } });
        await checkpoint(next.length);
      }
    },
  });
  const timesOf = async () => [
    ...new Set((await store.collection('scans').find().toArray()).map(({ times }) => times)),
  ];
  const meta = () => store.collection<{ _id: 'store'; version: number; claimed_until?: Date }>('meta');

  it('are continued after an interruption', async () => {
    await assert.rejects(bringUpToDate(store, logger, [doubled(1, 1)]), /killed/);
    assert.equal((await meta().findOne({}))?.version, 0);
    await meta().updateOne({ _id: 'store' }, { $set: { claimed_until: new Date(0) } });
    await bringUpToDate(store, logger, [doubled(1)]);
    assert.deepEqual(await timesOf(), [1]);
    assert.deepEqual(await meta().find({}).toArray(), [{ _id: 'store', version: 1 }]);
  });

  it('are each run by one of several processes, in order', async () => {
    const both = [doubled(1), doubled(2), doubled(3)];
    await Promise.all([1, 2, 3].map(() => bringUpToDate(store, logger, both)));
    assert.deepEqual(await timesOf(), [3]);
  });

  it('stop if another process has taken them over', async () => {
    const slow: Migration = {
      version: 4,
      name: 'slow',
      async run(target, checkpoint) {
        await target
          .collection<{ _id: string; claimed_by: string }>('meta')
          .updateOne({}, { $set: { claimed_by: 'other' } });
        await checkpoint(1);
      },
    };
    await assert.rejects(bringUpToDate(store, logger, [slow]), /"slow" was taken over/);
  });

  it('refuse a store of a newer version with a message for the operator', async () => {
    await meta().updateOne({ _id: 'store' }, { $set: { version: 99 } });
    await assert.rejects(
      bringUpToDate(store, logger),
      /newer version of Adsweep \(store version 99; this one knows \d+\)/,
    );
  });

  it('are not run in a new store', async () => {
    const fresh = await openStore({ path: ':memory:' });
    const never: Migration = { version: 7, name: 'never', run: () => Promise.reject(new Error('it was run')) };
    await bringUpToDate(fresh, logger, [never]);
    assert.equal((await fresh.collection('meta').findOne({}))?.version, 7);
    await fresh.close();
  });
});

describe('an organization of version 7', () => {
  it('gets an allowance with its usage, booked or not', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 7 });
    const now = new Date();
    await store
      .collection<OrganizationRecord>('organizations')
      .insertOne(newOrganization({ _id: 'o', name: 'O' }, now));
    const ledger = ledgerStore(store);
    const of = (scanId: string) => ({ organizationId: 'o', scanId });
    for (const scanId of ['long-ago', 'a', 'b'])
      await ledger.book(scanPosting('charge', of(scanId), 10, scanId === 'long-ago' ? new Date(0) : now));
    await ledger.book(scanPosting('refund', of('a'), 10, now));
    const waiting = ['b', 'c'].map((_id) => sampleScan({ _id, organization_id: 'o', ...unbooked(_id, now) }));
    await store.collection<StoredScan>('scans').insertMany(waiting.map((scan) => ({ ...scan, filter_keys: [] })));
    await bringUpToDate(store, logger);
    assert.deepEqual(await store.collection('allowances').find({}).toArray(), [
      {
        _id: 'o',
        months: { [now.toISOString().slice(0, 7)]: 2 },
        ...{ available_micros: -30, ledger_through: 4, reservations: {} },
      },
    ]);
    await store.close();
  });
});

const unbooked = (id: string, at: Date) =>
  initialOutbox('o', [{ id: `charge:${id}`, kind: 'charge', at, amount_micros: 10 }]);

describe('an organization of version 8', () => {
  it('gets an outbox and its own id as organization_id', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 8 });
    const { organization_id: _, outbox: __, ...old } = newOrganization({ _id: 'o', name: 'O' }, new Date());
    const organizations = store.collection<OrganizationRecord>('organizations');
    await organizations.insertOne(old as OrganizationRecord);
    await bringUpToDate(store, logger);
    assert.partialDeepStrictEqual(await organizations.findOne({}), { organization_id: 'o', outbox: [] });
    await store.close();
  });
});

describe('a list of version 6', () => {
  it('gets an index that includes the URL', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 6 });
    const scans = store.collection<StoredScan>('scans');
    await scans.createIndex({ organization_id: 1, created_at: -1, _id: -1 });
    await bringUpToDate(store, logger);
    await scanStore(store).createIndexes();
    const lists = (await scans.indexes())
      .map(({ key }) => Object.keys(key))
      .filter(([, second]) => second === 'created_at');
    assert.deepEqual(lists, [['organization_id', 'created_at', '_id', 'target.value']]);
    await store.close();
  });
});

describe('webhook endpoints of version 10', () => {
  it('have no index of slots any more', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'store', version: 10 });
    const endpoints = store.collection('webhook_endpoints');
    await endpoints.createIndex({ organization_id: 1, slot: 1 }, { unique: true });
    await bringUpToDate(store, logger);
    assert.deepEqual(
      (await endpoints.indexes()).map(({ name }) => name),
      ['_id_', 'due_at_1'],
    );
    await store.close();
  });
});
