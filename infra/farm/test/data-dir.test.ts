import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DataDirInUse, lockDataDir } from '../data-dir.ts';

const dir = mkdtempSync(join(tmpdir(), 'adsweep-lock-'));
after(() => rmSync(dir, { recursive: true, force: true }));

test('a data folder has one owner at a time and is free after it is unlocked', () => {
  const unlock = lockDataDir(dir);
  assert.throws(
    () => lockDataDir(dir),
    (error) => error instanceof DataDirInUse && error.message.includes(String(process.pid)),
  );
  unlock();
  lockDataDir(dir)();
});
