import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { type ObjectStore, openDiskObjects } from '../../src/platform/object-store.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

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

  it('are not stored if their source fails, and an earlier object is kept', async () => {
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

  it('are deleted one by one or all below a key; deleting a missing one does nothing', async () => {
    for (const key of ['d/1/a', 'd/1/b', 'd/2/a']) await objects.put(key, Buffer.from(key));
    await objects.delete('d/1');
    await objects.delete('d/none');
    assert.deepEqual([await objects.get('d/1/a'), await objects.get('d/1/b')], [null, null]);
    assert.equal((await read('d/2/a'))?.text, 'd/2/a');
  });

  it('cannot be read outside their folder', async () => {
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

  it('that were partly written before a crash are removed later, and those that are being written are kept', async () => {
    const [left, current] = ['left', 'current'].map((name) => join(root, '.incoming', name)) as [string, string];
    for (const path of [left, current]) await writeFile(path, 'x');
    const now = Date.now();
    await utimes(left, new Date(now - 120_000), new Date(now - 120_000));
    const reopened = await openDiskObjects(root);
    assert.equal(await reopened.removeTemporary(new Date(now - 60_000)), 1);
    assert.deepEqual(await readdir(join(root, '.incoming')), ['current']);
    await rm(current);
  });

  it('are walked folder by folder, the lower ones first, with the time each was written', async () => {
    for (const key of ['walked/1/a', 'walked/1/b', 'walked/2/a']) await objects.put(key, Buffer.from(key));
    const folders = await all(objects.walk('walked'));
    const told = folders.map(({ key, objects }) => [key, ...objects.map((one) => one.key).sort()]);
    assert.deepEqual(told.at(-1), ['walked']);
    assert.deepEqual(told.slice(0, -1).sort(), [
      ['walked/1', 'walked/1/a', 'walked/1/b'],
      ['walked/2', 'walked/2/a'],
    ]);
    const times = folders.flatMap(({ objects }) => objects.map(({ modified }) => Date.now() - modified.getTime()));
    assert.ok(times.every((age) => age < 60_000));
    assert.deepEqual(await all(objects.walk('nowhere')), []);
  });

  it('are stored in a folder that is removed concurrently', async () => {
    const removing = async () => {
      for (let count = 0; count < 50; count++) await objects.removeEmptyFolder('busy/1');
    };
    const putting = Array.from({ length: 20 }, (_, n) => objects.put(`busy/1/${n}`, Buffer.from('x')));
    await Promise.all([removing(), ...putting]);
    assert.equal((await readdir(join(root, 'busy/1'))).length, 20);
  });

  it('are deleted below a key while others are being stored there', async () => {
    const putting = Array.from({ length: 60 }, (_, n) => objects.put(`ending/1/${n}`, Buffer.from('x')));
    const deleting = async () => {
      for (let count = 0; count < 20; count++) await objects.delete('ending/1');
    };
    await Promise.all([deleting(), deleting(), ...putting]);
    await objects.delete('ending/1');
    assert.equal(await objects.get('ending/1/0'), null);
  });
});

describe('a stored object survives a power cut', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'adsweep-objects-'));
  });
  afterEach(() => mock.restoreAll());
  after(() => rm(root, { recursive: true, force: true }));

  it('its bytes are synced before the rename, its name and folders before the acknowledgement', async () => {
    const objects = await openDiskObjects(root);
    const happened: string[] = [];
    const path = join(root, 'scans/a/1/x');
    const folder = await open(root, 'r');
    const FileHandle = Object.getPrototypeOf(folder) as typeof folder;
    await folder.close();
    const [syncFile, syncFolder] = [fs.fsync, FileHandle.sync];
    mock.method(fs, 'fsync', (file: number, done: fs.NoParamCallback) => {
      happened.push(`bytes, ${fs.existsSync(path) ? 'named' : 'unnamed'}`);
      syncFile(file, done);
    });
    mock.method(FileHandle, 'sync', async function (this: typeof folder) {
      await syncFolder.call(this);
      happened.push(`folder, ${fs.existsSync(path) ? 'named' : 'unnamed'}`);
    });
    await objects.put('scans/a/1/x', Buffer.from('x'));
    happened.push('acknowledged');
    const folders = Array.from({ length: 4 }, () => 'folder, named');
    assert.deepEqual(happened, ['bytes, unnamed', ...folders, 'acknowledged']);
  });
});
