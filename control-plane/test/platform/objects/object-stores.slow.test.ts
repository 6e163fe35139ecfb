import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { copyObjects } from '../../../src/platform/objects/copy-objects.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import type { ObjectStore } from '../../../src/platform/objects/object-store.ts';
import { openS3Objects } from '../../../src/platform/objects/s3-objects.ts';
import { bucketOf, startS3Server } from '../../support/s3-server.ts';

type Opened = { objects: ObjectStore; stop(): Promise<void> };

async function openFolder(): Promise<Opened> {
  const root = await mkdtemp(join(tmpdir(), 'adsweep-objects-'));
  return { objects: await openDiskObjects(root), stop: () => rm(root, { recursive: true, force: true }) };
}

/** The bucket that `ADSWEEP_TEST_S3` names (`http://<key id>:<secret>@<host>/<bucket>`), otherwise one in memory. */
async function openBucket(): Promise<Opened> {
  const given = process.env.ADSWEEP_TEST_S3;
  const server = given ? null : await startS3Server({ pageLength: 3 });
  const prefix = `test/${process.pid}`;
  const location = given ? bucketAt(new URL(given), prefix) : bucketOf(server!, { prefix });
  const objects = openS3Objects(location, createLogger('test', 'silent'));
  return { objects, stop: async () => server?.stop() };
}

const bucketAt = ({ origin, pathname, username, password }: URL, prefix: string) => ({
  ...bucketOf({ endpoint: origin }, { prefix, bucket: pathname.slice(1) }),
  credentials: { accessKeyId: username, secretAccessKey: decodeURIComponent(password) },
});

/** What both kinds of object stores do. */
for (const [where, open] of [
  ['a folder', openFolder],
  ['a bucket', openBucket],
] as const)
  describe(`objects in ${where}`, () => {
    let opened: Opened;
    let objects: ObjectStore;
    before(async () => {
      opened = await open();
      objects = opened.objects;
    });
    after(() => opened.stop());

    const read = async (key: string) => {
      const stored = await objects.get(key);
      return stored && { text: await text(stored.stream), bytes: stored.bytes };
    };
    const listed = async (key: string) => {
      const found = [];
      for await (const some of objects.list(key)) found.push(...some);
      return found.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    };
    const keysBelow = async (key: string) => (await listed(key)).map((object) => object.key);

    it('are read as they were stored, from bytes and from streams, and replaced whole', async () => {
      await objects.put('scans/a/1/x.bin', Buffer.from('first'));
      assert.deepEqual(await read('scans/a/1/x.bin'), { text: 'first', bytes: 5 });
      await objects.put('scans/a/1/x.bin', Readable.from([Buffer.from('se'), Buffer.from('cond')]));
      assert.deepEqual(await read('scans/a/1/x.bin'), { text: 'second', bytes: 6 });
      assert.equal(await objects.get('scans/a/1/none.bin'), null);
      await objects.put('scans/a/1/empty', Readable.from([]));
      assert.deepEqual(await read('scans/a/1/empty'), { text: '', bytes: 0 });
    });

    it('are stored from a stream of many megabytes, and read in part', async () => {
      const bytes = Buffer.alloc(12 * 1024 * 1024 + 7, 'adsweep of ');
      const pieces = Array.from({ length: 13 }, (_, n) => bytes.subarray(n * 1024 * 1024, (n + 1) * 1024 * 1024));
      await objects.put('large/1/video', Readable.from(pieces));
      const whole = await objects.get('large/1/video');
      assert.equal(whole?.bytes, bytes.length);
      assert.ok(bytes.equals(await buffer(whole!.stream)));
      const [start, end] = [6 * 1024 * 1024 - 3, 6 * 1024 * 1024 + 4];
      const part = await objects.get('large/1/video', { start, end });
      assert.equal(part?.bytes, bytes.length);
      assert.ok(bytes.subarray(start, end + 1).equals(await buffer(part!.stream)));
      await objects.delete('large/1/video');
    });

    it('are not stored if their source fails, and an earlier object is kept', async () => {
      async function* broken(bytes: number) {
        for (let sent = 0; sent < bytes; sent += 1024 * 1024) yield Buffer.alloc(1024 * 1024);
        throw new Error('broke off');
      }
      await objects.put('kept', Buffer.from('whole'));
      for (const bytes of [1, 7 * 1024 * 1024]) {
        await assert.rejects(objects.put('kept', Readable.from(broken(bytes))), /broke off/);
        await assert.rejects(objects.put('new', Readable.from(broken(bytes))), /broke off/);
      }
      assert.equal((await read('kept'))?.text, 'whole');
      assert.equal(await objects.get('new'), null);
      assert.equal(await objects.removeIncomplete(new Date(Date.now() + 60_000)), 0);
    });

    it('are not stored if their source is destroyed', async () => {
      const source = new Readable({ read() {} });
      source.push('half');
      const putting = objects.put('half', source);
      source.destroy();
      await assert.rejects(putting);
      assert.equal(await objects.get('half'), null);
    });

    it('are deleted one by one or all below a key; deleting a missing one does nothing', async () => {
      const keys = ['d/1/a', 'd/1/b', 'd/1/c', 'd/1/d', 'd/10/a', 'd/2/a'];
      for (const key of keys) await objects.put(key, Buffer.from(key));
      await objects.delete('d/2/a');
      await objects.delete('d/2/a');
      await objects.deleteBelow('d/1');
      await objects.deleteBelow('d/none');
      assert.deepEqual(await keysBelow('d'), ['d/10/a']);
    });

    it('are listed with their size and the time when they were stored', async () => {
      const keys = ['walked/1/a', 'walked/1/b', 'walked/1/c', 'walked/2/a'];
      for (const key of keys) await objects.put(key, Buffer.from(key));
      const found = await listed('walked');
      assert.deepEqual(
        found.map(({ key, bytes }) => [key, bytes]),
        keys.map((key) => [key, key.length]),
      );
      assert.ok(found.every(({ modified }) => Math.abs(Date.now() - modified.getTime()) < 60_000));
      assert.deepEqual(await listed('nowhere'), []);
    });

    it('cannot be reached with a key that leads elsewhere', async () => {
      const keys = [
        '../x',
        'a/../../x',
        '/etc/x',
        'a//b',
        '',
        '.',
        'a/./b',
        '.incoming/x',
        'a\0b',
        'a\\b',
        'a/..',
        'a?b',
        'a%2fb',
      ];
      for (const key of keys)
        for (const ask of [
          () => objects.get(key),
          () => objects.delete(key),
          () => objects.deleteBelow(key),
          () => objects.put(key, Buffer.from('x')),
        ])
          await assert.rejects(ask, /unsafe/, key);
    });

    it('are deleted below a key while others are being stored there', async () => {
      const deleting = async () => {
        for (let count = 0; count < 20; count++) await objects.deleteBelow('ending/1');
      };
      for (let round = 0; round < 4; round++) {
        const putting = Array.from({ length: 60 }, (_, n) => objects.put(`ending/1/${n}`, Buffer.from('x')));
        await Promise.all([deleting(), deleting(), ...putting]);
      }
      await objects.deleteBelow('ending/1');
      assert.deepEqual(await keysBelow('ending'), []);
    });

    it('are copied to another store, and a second copy moves only what is missing or has another size', async () => {
      const other = await openFolder();
      try {
        const keys = ['moved/1/a', 'moved/1/b', 'moved/2/a'];
        for (const key of keys) await objects.put(key, Buffer.from(key));
        assert.deepEqual(await copyObjects(objects, other.objects, 'moved'), { copied: 3, present: 0 });
        await other.objects.put('moved/1/a', Buffer.from('half'));
        await other.objects.delete('moved/2/a');
        assert.deepEqual(await copyObjects(objects, other.objects, 'moved'), { copied: 2, present: 1 });
        for (const key of keys) assert.equal(await text((await other.objects.get(key))!.stream), key);
        await objects.deleteBelow('moved');
        assert.deepEqual(await copyObjects(other.objects, objects, 'moved'), { copied: 3, present: 0 });
        assert.equal((await read('moved/2/a'))?.text, 'moved/2/a');
      } finally {
        await other.stop();
      }
    });

    it('answer a ping', () => objects.ping());
  });
