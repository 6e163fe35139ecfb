import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../src/service/operator-error.ts';
import { makePrivateFolder } from '../src/service/private-folder.ts';

function folderWith(t: TestContext, ...folders: string[]): string {
  const path = mkdtempSync(join(tmpdir(), 'adsweep-private-'));
  t.after(() => rmSync(path, { recursive: true }));
  for (const name of folders) mkdirSync(join(path, name));
  chmodSync(path, 0o755);
  return path;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

test('a folder that is made, empty, or ours is closed to other users, whatever it was', (t) => {
  const made = join(folderWith(t), 'new', 'folder');
  const withExits = folderWith(t);
  writeFileSync(join(withExits, 'exits.json'), '{}');
  for (const path of [made, folderWith(t), folderWith(t, 'lost+found'), folderWith(t, 'objects', 'redis'), withExits]) {
    makePrivateFolder(path);
    assert.equal(modeOf(path), '700', path);
  }
});

test('a folder that cannot be made is refused with a sentence that names the setting', (t) => {
  const file = join(folderWith(t), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below'), '/proc/adsweep'])
    assert.throws(
      () => makePrivateFolder(path),
      (error) => error instanceof OperatorError && error.message.includes('ADSWEEP_DATA_DIR'),
      path,
    );
});

test('a folder that others need is refused and stays as it is', (t) => {
  const shared = folderWith(t);
  chmodSync(shared, 0o1777);
  for (const [path, mode] of [
    [folderWith(t, 'apt', 'ssh'), '755'],
    [shared, '1777'],
  ] as const) {
    assert.throws(() => makePrivateFolder(path), OperatorError);
    assert.equal(modeOf(path), mode);
  }
});
