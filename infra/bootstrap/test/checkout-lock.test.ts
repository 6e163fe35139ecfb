import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { withCheckoutLock } from '../checkout-lock.mjs';

let folder = '';
let lock = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'adsweep-lock-'));
  lock = join(folder, 'deep/bootstrap.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

const nobodyWaits = { onWait: () => assert.fail('nobody should wait') };

test('the lock is held while the work runs and released afterwards, also after a failure', async () => {
  const value = await withCheckoutLock(lock, async () => existsSync(lock), nobodyWaits);
  assert.equal(value, true);
  assert.equal(existsSync(lock), false);
  await assert.rejects(
    withCheckoutLock(lock, () => Promise.reject(new Error('no')), nobodyWaits),
    /no/,
  );
  assert.equal(existsSync(lock), false);
});

test('a second set-up waits for the first and prints its process id', async () => {
  const order: string[] = [];
  let letFirstEnd = () => {};
  const firstMayEnd = new Promise<void>((resolve) => {
    letFirstEnd = resolve;
  });
  const first = withCheckoutLock(lock, () => firstMayEnd.then(() => order.push('first')), nobodyWaits);
  const second = withCheckoutLock(lock, async () => order.push('second'), {
    onWait: (owner: number) => {
      order.push(`waiting for ${owner}`);
      letFirstEnd();
    },
  });
  await Promise.all([first, second]);
  assert.deepEqual(order, [`waiting for ${process.pid}`, 'first', 'second']);
});

test('the lock of a dead process is taken over', async () => {
  await withCheckoutLock(lock, async () => {}, nobodyWaits);
  const gone = spawnSync(process.execPath, ['--version']).pid;
  writeFileSync(lock, String(gone));
  assert.equal(await withCheckoutLock(lock, async () => 'mine', nobodyWaits), 'mine');
});

test('waiting for the lock times out with advice', async () => {
  await withCheckoutLock(lock, async () => {}, nobodyWaits);
  writeFileSync(lock, String(process.pid));
  const waiting = withCheckoutLock(lock, async () => {}, { onWait: () => {}, timeoutMs: 0 });
  await assert.rejects(waiting, (error: { lines: string[] }) => error.lines[0]!.includes(`rm ${lock}`));
});
