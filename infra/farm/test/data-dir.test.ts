import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DataDirInUse, farmSecrets, lockDataDir } from '../data-dir.ts';

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

test('secrets are kept, and a damaged file of them is named without its content', () => {
  const made = farmSecrets(dir);
  assert.deepEqual(farmSecrets(dir), made);
  const file = join(dir, 'secrets.json');
  const text = readFileSync(file, 'utf8');
  for (const damaged of ['', text.slice(0, 60), `{ 'api_key': ${made.api_key} }`, '{}']) {
    writeFileSync(file, damaged);
    assert.throws(
      () => farmSecrets(dir),
      ({ message }: Error) =>
        message.startsWith(`${file} has not the secrets`) && !message.includes(made.api_key.slice(0, 8)),
    );
  }
});
