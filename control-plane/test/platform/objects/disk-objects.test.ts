import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, open, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import type { ObjectStore } from '../../../src/platform/objects/object-store.ts';

describe('objects on disk', () => {
  let root: string;
  let objects: ObjectStore;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'adsweep-objects-'));
    objects = await openDiskObjects(root);
  });
  after(() => rm(root, { recursive: true, force: true }));

  it('that were partly written before a crash are removed later, and those that are being written are kept', async () => {
    const [left, current] = ['left', 'current'].map((name) => join(root, '.incoming', name)) as [string, string];
    for (const path of [left, current]) await writeFile(path, 'x');
    const now = Date.now();
    await utimes(left, new Date(now - 120_000), new Date(now - 120_000));
    const reopened = await openDiskObjects(root);
    assert.equal(await reopened.removeIncomplete(new Date(now - 60_000)), 1);
    assert.deepEqual(await readdir(join(root, '.incoming')), ['current']);
    await rm(current);
  });

  it('leave no empty folders when they are deleted', async () => {
    for (const key of ['left/1/a', 'left/2/a', 'left/2/b']) await objects.put(key, Buffer.from('x'));
    await objects.delete('left/1/a');
    await objects.delete('left/2/a');
    assert.deepEqual(await readdir(join(root, 'left')), ['2']);
    await objects.deleteBelow('left/2');
    assert.deepEqual(await readdir(root), ['.incoming']);
  });

  it('are stored in folders that are removed concurrently', async () => {
    const storing = async (n: number) => {
      await objects.put(`busy/${n % 3}/${n}`, Buffer.from('x'));
      if (n % 2 === 0) await objects.delete(`busy/${n % 3}/${n}`);
    };
    await Promise.all(Array.from({ length: 60 }, (_, n) => storing(n)));
    let stored = 0;
    for await (const some of objects.list('busy')) stored += some.length;
    assert.equal(stored, 30);
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
