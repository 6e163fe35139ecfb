import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { slow } from '../../../shared/test/support/slow.ts';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Store } from '../src/store-shape.ts';

type Entry = { _id: string; sum: number };

describe('a copy of the store', () => {
  let folder: string;
  let store: Store;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adsweep-back-up-'));
    store = await openEmbedded(join(folder, 'store.db'));
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('holds what was committed at one moment, while writes go on', async () => {
    const entries = store.collection<Entry>('entries');
    await entries.insertMany(
      Array.from({ length: 5_000 }, (_, n) => ({ _id: `filler-${n}`, sum: 0, text: 'x'.repeat(2_000) })),
    );
    await entries.insertOne({ _id: 'before', sum: 0 });
    let written = 0;
    let isDone = false;
    const writing = (async () => {
      while (!isDone) {
        await entries.bulkWrite([
          { updateOne: { filter: { _id: 'before' }, update: { $inc: { sum: 1 } } } },
          { insertOne: { document: { _id: `after-${written}`, sum: 0 } } },
        ]);
        written += 1;
      }
    })();
    for (let copy = 0; copy < 3; copy++) await store.backUp!(join(folder, `copy-${copy}.db`));
    isDone = true;
    await writing;
    assert.ok(written > 3, `${written} writes while copying`);

    const copied: number[] = [];
    for (let copy = 0; copy < 3; copy++) {
      const path = join(folder, `copy-${copy}.db`);
      const file = new DatabaseSync(path);
      assert.deepEqual({ ...file.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
      file.close();
      const opened = await openEmbedded(path);
      const { sum } = (await opened.collection<Entry>('entries').findOne({ _id: 'before' }))!;
      assert.equal(await opened.collection<Entry>('entries').countDocuments(), 5_001 + sum);
      copied.push(sum);
      await opened.close();
    }
    assert.deepEqual(
      copied,
      copied.toSorted((one, other) => one - other),
    );
    assert.equal(await entries.countDocuments(), 5_001 + written);
  });

  it('does not keep another process from being refused', slow, async () => {
    await store.backUp!(join(folder, 'locked.db'));
    const source = `import { openEmbedded } from '${import.meta.resolve('../src/open-embedded.ts')}'; await openEmbedded(process.argv[1]);`;
    const other = promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      source,
      join(folder, 'store.db'),
    ]);
    await assert.rejects(other, /is open in another process/);
  });

  it('is made by one call at a time, and never over an existing file', async () => {
    const first = store.backUp!(join(folder, 'one.db'));
    await assert.rejects(store.backUp!(join(folder, 'two.db')), /already/);
    await first;
    const { mtimeMs } = await stat(join(folder, 'one.db'));
    await assert.rejects(store.backUp!(join(folder, 'one.db')), /EEXIST/);
    assert.equal((await stat(join(folder, 'one.db'))).mtimeMs, mtimeMs);
  });

  it('is complete when the store is closed meanwhile, and the log is written into the file again afterwards', async () => {
    const path = join(folder, 'closing.db');
    const closing = await openEmbedded(path);
    await closing.collection<Entry>('entries').insertOne({ _id: 'a', sum: 1 });
    const copying = closing.backUp!(join(folder, 'closing-copy.db'));
    await closing.close();
    await copying;
    const copy = await openEmbedded(join(folder, 'closing-copy.db'));
    assert.equal(await copy.collection<Entry>('entries').countDocuments(), 1);
    await copy.close();
  });
});
