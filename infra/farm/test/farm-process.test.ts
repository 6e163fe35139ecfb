import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { FarmProcess } from '../farm-process.ts';

const TALKATIVE = join(import.meta.dirname, 'support/talkative-process.ts');

test('the log of a process that runs is rotated, and no line is lost or split', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'adsweep-process-'));
  const logFile = join(dir, 'talkative.log');
  const args = [TALKATIVE];
  const say = () => undefined;
  const supervised = new FarmProcess({
    name: 'talkative',
    command: process.execPath,
    args,
    env: {},
    logFile,
    logBytesMax: 9_999,
    say,
  });
  t.after(async () => {
    await supervised.stop(1_000);
    rmSync(dir, { recursive: true });
  });
  await supervised.start();
  const old = () => (existsSync(`${logFile}.1`) ? readFileSync(`${logFile}.1`, 'utf8') : '');
  // The second rotation replaces the first one's file.
  await until('a second rotation', () => old() !== '' && !old().includes('"line":0,'));
  await supervised.stop(1_000);

  const lines = (old() + readFileSync(logFile, 'utf8')).trimEnd().split('\n');
  const numbers = lines.map((line) => (JSON.parse(line) as { line: number }).line);
  const [first = 0] = numbers;
  assert.ok(first > 0);
  assert.ok(numbers.length > 100);
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => first + index),
  );
});
