import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import type { ObjectStore } from '../../../src/platform/objects/object-store.ts';
import { areOwnFiles, ownFilesSince } from '../../../src/platform/objects/own-files.ts';
import type { RedisClient } from '../../../src/platform/redis.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';
import type { ArtifactRecord } from '../../../src/scanning/artifacts/artifact.ts';
import { artifactStore } from '../../../src/scanning/artifacts/artifact-store.ts';
import { startSweeping, unrecordedSweep } from '../../../src/scanning/artifacts/start-sweeping.ts';

const HOUR_MS = 60 * 60 * 1000;
const logger = createLogger('test', 'silent');
/** An unavailable Redis: every process may sweep. */
const redis = { evalsha: () => Promise.reject(new Error('away')) } as unknown as RedisClient;

let folder: string;
let store: Store;
let objects: ObjectStore;
let artifacts: ReturnType<typeof artifactStore>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'adsweep-sweep-'));
  store = await openStore({ path: join(folder, 'store.db') });
  objects = await openDiskObjects(join(folder, 'objects'));
  artifacts = artifactStore(store, objects);
  await artifacts.createIndexes();
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const records = () => store.collection<ArtifactRecord>('artifacts');
const recordOf = (object: string, expires_at: Date | null): ArtifactRecord => {
  const [, scan_id = '', fence, name = ''] = object.split('/');
  const about = { sha256: '', bytes: 1, content_type: 'image/webp', width: 1, height: 1 };
  return { _id: object, object, kept: true, scan_id, fence: Number(fence), name, ...about, expires_at };
};
const filesBelow = async () => {
  const names: string[] = [];
  for await (const files of objects.list('scans')) names.push(...files.map(({ key }) => basename(key)));
  return names;
};
/** Makes an object, its folders too, look as if it had been stored `ageMs` ago. */
async function age(key: string, ageMs: number): Promise<void> {
  const when = new Date(Date.now() - ageMs);
  const segments = key.split('/');
  for (let length = segments.length; length > 1; length--)
    await utimes(join(folder, 'objects', ...segments.slice(0, length)), when, when);
}

describe('the sweeper', () => {
  it('removes a backlog of expired files and records without pausing between batches', async () => {
    const keys = Array.from({ length: 400 }, (_, n) => `scans/s${n % 20}/1/u${n}-landing-0.webp`);
    await Promise.all(keys.map((key) => objects.put(key, Buffer.from('x'))));
    await records().insertMany(keys.map((key) => recordOf(key, new Date(Date.now() - HOUR_MS))));
    await objects.put('scans/kept/1/u-landing-0.webp', Buffer.from('x'));
    await records().insertOne(recordOf('scans/kept/1/u-landing-0.webp', null));
    const events = store.collection<{ _id: number; at: Date } & Document>('expiring');
    await events.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
    await events.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: n, at: new Date(0) })) as never);

    const sweeping = startSweeping({ store, objects, redis, artifacts, logger });
    try {
      await until('what has expired to be gone', async () => (await records().countDocuments()) === 1);
      await until('its files to be gone', async () => (await filesBelow()).length === 1);
      await until('other records to be gone', async () => (await events.countDocuments()) === 0);
    } finally {
      await sweeping.stop();
    }
    assert.deepEqual(await filesBelow(), ['u-landing-0.webp']);
  });

  it('removes a limited number of files per batch and returns how many', async () => {
    await records().insertMany(
      Array.from({ length: 130 }, (_, n) => recordOf(`scans/s/1/${n}`, new Date(Date.now() - HOUR_MS))),
    );
    const removed: number[] = [];
    do removed.push(await artifacts.sweep(new Date()));
    while (removed.at(-1)! > 0);
    assert.ok(removed.length > 2, removed.join());
    assert.equal(
      removed.reduce((sum, count) => sum + count, 0),
      130,
    );
  });

  it('does not remove a file that was replaced or marked as kept during the sweep', async () => {
    const key = 'scans/s/1/u-landing-0.webp';
    await objects.put(key, Buffer.from('x'));
    await records().insertOne(recordOf(key, new Date(Date.now() - HOUR_MS)));
    const sweeping = artifacts.sweep(new Date());
    // The sweep has read the records but has not removed them yet.
    await records().updateOne({ _id: key }, { $set: { expires_at: null } });
    await sweeping;
    assert.equal(await records().countDocuments(), 1);
    assert.deepEqual(await filesBelow(), ['u-landing-0.webp']);
  });
});

describe('files without a record', () => {
  /** As a process that has opened the records in `own`. */
  const sweepOf = (own: Store) =>
    unrecordedSweep(objects, artifactStore(own, objects).listOf, () => areOwnFiles(own, objects));
  const sweepAll = async (own = store) => {
    const sweep = sweepOf(own);
    while (await sweep(new Date()));
  };

  it('are removed with their folders when they are older than a day; other files stay', async () => {
    const [lost, young, recorded] = ['scans/a/1/lost', 'scans/b/1/young', 'scans/c/2/recorded'] as const;
    for (const key of [lost, young, recorded]) await objects.put(key, Buffer.from('x'));
    await records().insertOne(recordOf(recorded, null));
    await age(lost, 25 * HOUR_MS);
    await age(young, 23 * HOUR_MS);
    await age(recorded, 1000 * HOUR_MS);
    await sweepAll();
    assert.deepEqual((await filesBelow()).sort(), ['recorded', 'young']);
    assert.deepEqual((await readdir(join(folder, 'objects/scans'))).sort(), ['b', 'c']);
  });

  it('are searched for in steps, each of which continues where the last one stopped', slow, async () => {
    const keys = Array.from({ length: 250 }, (_, n) => `scans/s${n}/1/lost`);
    await Promise.all(keys.map((key) => objects.put(key, Buffer.from('x'))));
    for (const key of keys) await age(key, 25 * HOUR_MS);
    const sweep = sweepOf(store);
    assert.equal(await sweep(new Date()), true);
    const left = (await filesBelow()).length;
    assert.ok(left > 0 && left < 250, `${left} files left`);
    while (await sweep(new Date()));
    assert.deepEqual(await filesBelow(), []);
  });

  it('stay while a process has new records, or those of another deployment', async () => {
    const [foreign, added] = ['scans/a/1/foreign', 'scans/b/1/added'];
    const other = await openStore({ path: ':memory:' });
    try {
      await objects.put(foreign, Buffer.from('x'));
      await age(foreign, 25 * HOUR_MS);
      // Settings were forgotten: a store without records has the files of another one, whose version marks none as its
      // own.
      await ownFilesSince(other, new Date());
      await sweepAll(other);
      assert.deepEqual(await filesBelow(), ['foreign']);

      // The records that they belong to mark them. Files that a third deployment adds to them are not its own either.
      await records().insertOne(recordOf(foreign, null));
      await sweepAll();
      await objects.put(added, Buffer.from('x'));
      await age(added, 25 * HOUR_MS);
      await other.collection('file_owner').drop();
      await sweepAll(other);
      assert.deepEqual((await filesBelow()).sort(), ['added', 'foreign']);
      await sweepAll();
      assert.deepEqual(await filesBelow(), ['foreign']);
    } finally {
      await other.close();
    }
  });

  it('are removed by a new deployment whose own they are', async () => {
    await ownFilesSince(store, new Date(Date.now() - 48 * HOUR_MS));
    await objects.put('scans/a/1/lost', Buffer.from('x'));
    await age('scans/a/1/lost', 25 * HOUR_MS);
    await sweepAll();
    assert.deepEqual(await filesBelow(), []);
  });
});
