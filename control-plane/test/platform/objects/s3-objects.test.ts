import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { type ObjectStore, ObjectsUnavailable } from '../../../src/platform/objects/object-store.ts';
import { openS3Objects, type S3Location } from '../../../src/platform/objects/s3-objects.ts';
import { bucketOf, S3_KEY, startS3Server } from '../../support/s3-server.ts';

async function keysBelow(objects: ObjectStore, key: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const some of objects.list(key)) keys.push(...some.map((object) => object.key));
  return keys;
}

const MEGABYTE = 1024 * 1024;

describe('a bucket', () => {
  let server: Awaited<ReturnType<typeof startS3Server>>;
  before(async () => {
    server = await startS3Server({ pageLength: 2 });
  });
  beforeEach(() => {
    server.objects.clear();
    server.uploads.clear();
    server.requests.length = 0;
    server.setOutage(null);
    server.setBreaksOff(false);
  });
  after(() => server.stop());

  const open = (changes: Partial<S3Location> = {}) =>
    openS3Objects(bucketOf(server, changes), createLogger('test', 'silent'));

  it('takes a small object in one request, and a large one in parts', async () => {
    await open().put('small', Readable.from([Buffer.from('sm'), Buffer.from('all')]));
    assert.deepEqual(server.requests, ['PUT object']);
    server.requests.length = 0;
    await open().put('large', Readable.from(Array.from({ length: 11 }, () => Buffer.alloc(MEGABYTE))));
    const parts = server.requests.filter((request) => request === 'PUT object partNumber');
    assert.deepEqual(
      [server.requests[0], parts.length, server.requests.at(-1)],
      ['POST object uploads', 3, 'POST object uploadId'],
    );
    assert.equal(server.objects.get('large')?.bytes.length, 11 * MEGABYTE);
  });

  it('has all keys below the prefix, and objects outside of it are neither listed nor deleted', async () => {
    const objects = open({ prefix: 'tenants/a' });
    server.objects.set('scans/other', { bytes: Buffer.from('x'), modified: new Date(), encryption: undefined });
    await objects.put('scans/mine', Buffer.from('x'));
    await objects.put('scans/b/1/x', Buffer.from('x'));
    assert.deepEqual([...server.objects.keys()], ['scans/other', 'tenants/a/scans/mine', 'tenants/a/scans/b/1/x']);
    const keys = await keysBelow(objects, 'scans');
    assert.deepEqual(keys, ['scans/b/1/x', 'scans/mine']);
    await objects.deleteBelow('scans');
    assert.deepEqual([...server.objects.keys()], ['scans/other']);
  });

  it('is asked for the encryption that is set, for objects in one piece and in parts', async () => {
    const objects = open({ encryption: 'aws:kms', kmsKeyId: 'key-1' });
    await objects.put('small', Buffer.from('x'));
    await objects.put('large', Readable.from(Array.from({ length: 6 }, () => Buffer.alloc(MEGABYTE))));
    assert.deepEqual(
      [...server.objects.values()].map(({ encryption }) => encryption),
      ['aws:kms', 'aws:kms'],
    );
  });

  it('loses abandoned uploads in parts that began before a time, in all pages, and keeps later ones', async () => {
    const begun = (key: string, ageMs: number) => ({
      key,
      initiated: new Date(Date.now() - ageMs),
      parts: new Map(),
      encryption: undefined,
    });
    for (let n = 0; n < 5; n++) server.uploads.set(`old-${n}`, begun(`scans/${n}`, 120_000));
    server.uploads.set('young', begun('scans/young', 0));
    assert.equal(await open().removeIncomplete(new Date(Date.now() - 60_000)), 5);
    assert.deepEqual([...server.uploads.keys()], ['young']);
  });

  it(
    'that fails, refuses, is missing, has other keys or cannot be reached makes every request end as unavailable',
    slow,
    async () => {
      await open().put('stored', Buffer.from('x'));
      const fails = async (objects: ReturnType<typeof open>) => {
        const requests = [
          () => objects.put('new', Readable.from([Buffer.from('x')])),
          () => objects.get('stored'),
          () => objects.delete('stored'),
          () => objects.deleteBelow('stored'),
          () => objects.list('scans').next(),
          () => objects.removeIncomplete(new Date()),
          () => objects.ping(),
        ];
        await Promise.all(requests.map((request) => assert.rejects(request, ObjectsUnavailable)));
      };
      for (const status of [503, 403]) {
        server.setOutage(status);
        await fails(open());
      }
      server.setOutage(null);
      await fails(open({ bucket: 'another' }));
      await fails(open({ credentials: { accessKeyId: S3_KEY.id, secretAccessKey: 'wrong' } }));
      await fails(open({ endpoint: 'http://127.0.0.1:9' }));
      assert.deepEqual([...server.objects.keys()], ['stored']);
    },
  );

  it('that fails for a moment is asked again', async () => {
    server.setOutage(503);
    const putting = open().put('late', Buffer.from('x'));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    server.setOutage(null);
    await putting;
    const stored = await open().get('late');
    assert.equal(await text(stored!.stream), 'x');
  });

  it('whose connection breaks in the middle of an object is unavailable to the reader, who may also leave it unread', async () => {
    const objects = open();
    await objects.put('large', Buffer.alloc(MEGABYTE));
    server.setBreaksOff(true);
    await assert.rejects(text((await objects.get('large'))!.stream), ObjectsUnavailable);
    const [late, unread] = [(await objects.get('large'))!.stream, (await objects.get('large'))!.stream];
    late.resume();
    await new Promise((resolve) => late.on('close', resolve));
    await assert.rejects(text(late), ObjectsUnavailable);
    unread.destroy();
    await once(unread, 'close');
    server.setBreaksOff(false);
    assert.equal((await text((await objects.get('large'))!.stream)).length, MEGABYTE);
  });

  it('is closed to a source that breaks off in the middle: the parts that it has are dropped', async () => {
    async function* broken() {
      for (let n = 0; n < 12; n++) yield Buffer.alloc(MEGABYTE);
      throw new Error('broke off');
    }
    await assert.rejects(open().put('large', Readable.from(broken())), /broke off/);
    assert.deepEqual([server.uploads.size, server.objects.size], [0, 0]);
    assert.ok(server.requests.includes('PUT object partNumber'));
  });
});
