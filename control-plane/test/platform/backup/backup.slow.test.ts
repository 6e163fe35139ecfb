import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { backUp } from '../../../src/platform/backup/back-up.ts';
import { requestBackup, serveBackups } from '../../../src/platform/backup/backup-socket.ts';
import { restore } from '../../../src/platform/backup/restore.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import type { ObjectStore } from '../../../src/platform/objects/object-store.ts';
import { openSecrets } from '../../../src/platform/secrets.ts';
import { openStore, type Store } from '../../../src/platform/store.ts';

const logger = createLogger('test', 'silent');

type Named = { _id: string; object: string };

describe('a backup', () => {
  let folder: string;
  let dataDir: string;
  let store: Store;
  let objects: ObjectStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adsweep-backup-'));
    dataDir = join(folder, 'data');
    store = await openStore({ path: join(dataDir, 'store.db') });
    objects = await openDiskObjects(join(dataDir, 'objects'));
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const at = (name: string) => join(folder, name);
  const names = (from: Store) => from.collection<Named>('names');
  /** Stores an object and then the record that names it, as an upload does. */
  const add = async (n: number) => {
    const object = `scans/s${n}/1/file`;
    await objects.put(object, Buffer.from(`content ${n}`));
    await names(store).insertOne({ _id: `n-${n}`, object });
  };
  const remove = async (n: number) => {
    await names(store).deleteOne({ _id: `n-${n}` });
    await objects.delete(`scans/s${n}/1/file`);
  };
  /** How many records a restored folder has; each must have its file. */
  const checked = async (restored: string): Promise<number> => {
    const [copy, files] = [
      await openStore({ path: join(restored, 'store.db') }),
      await openDiskObjects(join(restored, 'objects')),
    ];
    const found = await names(copy).find({}).toArray();
    await copy.close();
    for (const { _id, object } of found) {
      const stored = await files.get(object);
      assert.ok(stored, `${object} is missing`);
      assert.equal(await text(stored.stream), `content ${_id.slice(2)}`);
    }
    return found.length;
  };

  it('of a process that goes on writing has the records of one moment, and every file that they name', async () => {
    for (let n = 0; n < 100; n++) await add(n);
    const stop = await serveBackups({ store, dataDir, inBucket: false }, logger);
    let [written, removed, isDone] = [100, 0, false];
    const writing = (async () => {
      for (; !isDone; written++) {
        await add(written);
        if (written % 3 === 0 && removed < 100) await remove(removed++);
        await pause(10);
      }
    })();
    const counts: number[] = [];
    try {
      for (let round = 0; round < 3; round++) {
        await requestBackup(dataDir, at('backup'));
        await restore(at('backup'), at(`restored-${round}`));
        counts.push(await checked(at(`restored-${round}`)));
      }
    } finally {
      isDone = true;
      await writing;
      await stop();
    }
    assert.ok(removed > 0 && counts[0]! >= 100 && counts[2]! > counts[0]!, `${counts.join()}, ${removed} removed`);
    assert.equal(await requestBackup(dataDir, at('another')), null);
  });

  it('in the folder of an earlier one copies only new files, and replaces the records', async () => {
    const parts = { store, dataDir, inBucket: false };
    for (let n = 0; n < 5; n++) await add(n);
    assert.partialDeepStrictEqual(await backUp(parts, at('backup')), { copied: 5, present: 0 });
    await add(5);
    assert.partialDeepStrictEqual(await backUp(parts, at('backup')), { copied: 1, present: 5 });
    assert.equal((await readdir(at('backup'))).filter((name) => name.endsWith('.db')).length, 1);
    await restore(at('backup'), at('restored'));
    assert.equal(await checked(at('restored')), 6);
  });

  it('removes what interrupted ones left, so that they do not fill the disk, and keeps the complete one', async () => {
    const parts = { store, dataDir, inBucket: false };
    await add(1);
    await backUp(parts, at('backup'));
    const complete = (await readdir(at('backup'))).sort();
    const copies = async () => (await readdir(at('backup'))).filter((name) => name.endsWith('.db')).length;
    // The disk is full: a part of the copy was written.
    const full = async (file: string) => {
      await writeFile(file, 'a part of it');
      throw new Error('no space left on device');
    };
    await assert.rejects(backUp({ ...parts, store: { backUp: full } }, at('backup')), /no space/);
    assert.deepEqual((await readdir(at('backup'))).sort(), complete);
    // A process that was killed left a part of the records, of a file and of a secret.
    await writeFile(at('backup/store-killed.db'), 'a part of it');
    await writeFile(at('backup/objects/.incoming/killed'), 'a part of it');
    await writeFile(at('backup/secrets.key.new'), 'a part of it');
    const seen: number[] = [];
    const counted = async (file: string) => {
      seen.push(await copies());
      await store.backUp!(file);
    };
    await backUp({ ...parts, store: { backUp: counted } }, at('backup'));
    assert.deepEqual(seen, [1]);
    assert.deepEqual(await readdir(at('backup/objects/.incoming')), []);
    await restore(at('backup'), at('restored'));
    assert.equal(await checked(at('restored')), 1);
  });

  it('is made after another one that is requested at the same time', async () => {
    await add(1);
    const stop = await serveBackups({ store, dataDir, inBucket: false }, logger);
    try {
      await Promise.all([1, 2, 3].map(() => requestBackup(dataDir, at('backup'))));
    } finally {
      await stop();
    }
    await restore(at('backup'), at('restored'));
    assert.equal(await checked(at('restored')), 1);
  });

  it('whose request breaks off does not end the process', async () => {
    const stop = await serveBackups({ store, dataDir, inBucket: false }, logger);
    try {
      const socket = connect(join(dataDir, 'backup.sock'));
      socket.write('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{', () => socket.destroy());
      await once(socket, 'close');
      assert.partialDeepStrictEqual(await requestBackup(dataDir, at('backup')), { copied: 0 });
    } finally {
      await stop();
    }
  });

  it('has the key of stored secrets, and no files that are in a bucket', async () => {
    const sealed = openSecrets('', dataDir).seal('a secret', 'here');
    await add(1);
    await backUp({ store, dataDir, inBucket: true }, at('backup'));
    assert.deepEqual(
      (await readdir(at('backup'))).filter((name) => name === 'objects'),
      [],
    );
    const { backup, files } = await restore(at('backup'), at('restored'));
    assert.deepEqual([backup.files, files], ['bucket', 0]);
    assert.equal(openSecrets('', at('restored')).open(sealed, 'here'), 'a secret');
  });

  it('is not made in the data folder, or in a folder with other files', async () => {
    const parts = { store, dataDir, inBucket: false };
    await assert.rejects(backUp(parts, join(dataDir, 'backup')), /is in the data folder/);
    await mkdir(at('other'));
    await writeFile(at('other/notes.txt'), 'mine');
    await chmod(at('other'), 0o755);
    await assert.rejects(backUp(parts, at('other')), /has other files/);
    assert.deepEqual(await readdir(at('other')), ['notes.txt']);
    assert.equal((await stat(at('other'))).mode & 0o777, 0o755, 'other users can still read it');
    await assert.rejects(backUp(parts, at('other/notes.txt')), /choose another folder as the folder of the backup/);
  });

  it('that is damaged or was never completed is not restored, and neither is one over existing records', async () => {
    await backUp({ store, dataDir, inBucket: false }, at('backup'));
    await assert.rejects(restore(at('backup'), dataDir), /is in use \(.*store\.db/);
    await assert.rejects(restore(at('nothing'), at('restored')), /has no complete backup/);
    const [copy = ''] = (await readdir(at('backup'))).filter((name) => name.endsWith('.db'));
    await writeFile(at(`backup/${copy}`), 'x', { flag: 'a' });
    await assert.rejects(restore(at('backup'), at('restored')), /is damaged/);
  });

  it('is made and restored by one command each, while Adsweep is stopped or runs', async () => {
    const command = async (name: string, to: string, env: NodeJS.ProcessEnv = {}) => {
      const script = fileURLToPath(new URL(`../../../src/commands/${name}.ts`, import.meta.url));
      const run = promisify(execFile)(process.execPath, [script, to], { env: { ADSWEEP_DATA_DIR: dataDir, ...env } });
      return (await run).stdout;
    };
    await add(1);
    const stop = await serveBackups({ store, dataDir, inBucket: false }, logger);
    assert.match(await command('backup', at('running')), /1 files of scans were copied/);
    await stop();
    await store.close();
    assert.match(await command('backup', at('stopped')), /1 files of scans were copied/);
    for (const made of ['running', 'stopped']) {
      const env = { ADSWEEP_DATA_DIR: at(`restored-${made}`) };
      assert.match(await command('restore', at(made), env), /1 files of scans/);
      assert.equal(await checked(at(`restored-${made}`)), 1);
    }
    await assert.rejects(command('backup', at('mongo'), { MONGODB_URL: 'mongodb://127.0.0.1:9' }), /OPERATIONS/);
    // A forgotten setting must not replace a backup by one of no records.
    const nowhere = { ADSWEEP_DATA_DIR: at('nowhere') };
    await assert.rejects(command('backup', at('running'), nowhere), /has no records: set ADSWEEP_DATA_DIR/);
    assert.ok(!(await readdir(folder)).includes('nowhere'));
    await restore(at('running'), at('restored-again'));
    assert.equal(await checked(at('restored-again')), 1);
  });
});
