import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { type ObjectStore, openDiskObjects } from '../src/platform/object-store.ts';

describe('objects on disk', () => {
  let root: string;
  let objects: ObjectStore;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'adsweep-objects-'));
    objects = await openDiskObjects(root);
  });
  after(() => rm(root, { recursive: true, force: true }));

  const read = async (key: string) => {
    const stored = await objects.get(key);
    return stored && { text: await text(stored.stream), bytes: stored.bytes };
  };

  it('are read as they were stored, from bytes and from streams, and replaced whole', async () => {
    await objects.put('scans/a/1/x.bin', Buffer.from('first'));
    assert.deepEqual(await read('scans/a/1/x.bin'), { text: 'first', bytes: 5 });
    await objects.put('scans/a/1/x.bin', Readable.from([Buffer.from('se'), Buffer.from('cond')]));
    assert.deepEqual(await read('scans/a/1/x.bin'), { text: 'second', bytes: 6 });
    assert.equal(await objects.get('scans/a/1/none.bin'), null);
  });

  it('are not there at all when their source breaks off, and what was there stays', async () => {
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('broke off');
    }
    await objects.put('kept', Buffer.from('whole'));
    await assert.rejects(objects.put('kept', Readable.from(broken())), /broke off/);
    await assert.rejects(objects.put('new', Readable.from(broken())), /broke off/);
    assert.equal((await read('kept'))?.text, 'whole');
    assert.equal(await objects.get('new'), null);
    assert.deepEqual(await readdir(join(root, '.incoming')), []);
  });

  it('go one by one or all below a key; what is not there goes too', async () => {
    for (const key of ['d/1/a', 'd/1/b', 'd/2/a']) await objects.put(key, Buffer.from(key));
    await objects.delete('d/1');
    await objects.delete('d/none');
    assert.deepEqual([await objects.get('d/1/a'), await objects.get('d/1/b')], [null, null]);
    assert.equal((await read('d/2/a'))?.text, 'd/2/a');
  });

  it('cannot be asked for outside their folder', async () => {
    for (const key of [
      '../x',
      'a/../../x',
      '/etc/passwd',
      'a//b',
      '',
      '.',
      'a/./b',
      '.incoming/x',
      'a\0b',
      'a\\b',
      'a/..',
    ])
      for (const ask of [objects.get(key), objects.delete(key), objects.put(key, Buffer.from('x'))])
        await assert.rejects(ask, /unsafe/, key);
  });

  it('leave no halves behind after a crash', async () => {
    await writeFile(join(root, '.incoming', 'half'), 'x');
    await openDiskObjects(root);
    assert.deepEqual(await readdir(join(root, '.incoming')), []);
  });
});
