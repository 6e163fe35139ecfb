import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { FarmProcess } from '../farm-process.ts';

const TALKATIVE = join(import.meta.dirname, 'support/talkative-process.ts');
const DIES_IN_ROTATION = join(import.meta.dirname, 'support/dies-in-rotation.ts');

test('a running process rotates its log without losing or splitting a line', slow, async (t) => {
  const { supervised, rotated, numbers } = supervise(t, [TALKATIVE]);
  await supervised.start();
  // The second rotation replaces the first one's file.
  await until('a second rotation', () => rotated() !== '' && !rotated().includes('"line":0,'));
  await supervised.stop(1_000);

  const logged = numbers();
  const [first = 0] = logged;
  assert.ok(first > 0);
  assert.ok(logged.length > 100);
  assert.deepEqual(
    logged,
    logged.map((_, index) => first + index),
  );
});

test('a process that is killed in the middle of a rotation loses no line of its log', async (t) => {
  let death = '';
  const { supervised, numbers } = supervise(t, ['--import', DIES_IN_ROTATION, TALKATIVE], (text) => {
    death ||= text;
    void supervised.stop(0); // It is not started again.
  });
  await supervised.start();
  await until('its death', () => death !== '');
  assert.match(death, /SIGKILL/);

  const logged = [...new Set(numbers())];
  assert.ok(logged.length > 50);
  assert.deepEqual(
    logged,
    logged.map((_, index) => index),
  );
});

test('a log that cannot be moved away grows, is reported once, and ends nothing', async (t) => {
  const said: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-farm-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const logFile = join(folder, 'process.log');
  mkdirSync(`${logFile}.1`);
  const script = "process.send({ type: 'ready', ports: {} }); setInterval(() => console.log('x'.repeat(1000)), 10)";
  const options = { name: 'process', command: process.execPath, args: ['-e', script], env: {}, logFile };
  const say = (text: string) => void said.push(text);
  const supervised = new FarmProcess({ ...options, logBytesMax: 1_000, opensLogByName: true, say });
  t.after(() => supervised.stop(0));
  await supervised.start();
  await until('the report', () => said.length > 0);
  await pause(1_100);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /^process: its log grows, because it cannot be moved away: EISDIR/);
});

test('a start may take as long as it does, and is reported while it lasts', async (t) => {
  const said: string[] = [];
  const later =
    'setTimeout(() => process.send({ type: "ready", ports: { http: 7 } }), 400); setInterval(() => {}, 1000)';
  const { supervised } = supervise(t, ['-e', later], (text) => said.push(text), 100);
  assert.deepEqual(await supervised.start(), { http: 7 });
  assert.match(said[0] ?? '', /talkative has been starting for 0 s; what it does is in .*talkative\.log/);
});

/** A process whose log is rotated at 9,999 bytes. `rotated`: the text of the rotated log; `numbers`: of the lines in both files. */
function supervise(
  t: TestContext,
  args: string[],
  say: (text: string) => void = () => undefined,
  slowStartMs = 30_000,
) {
  const dir = mkdtempSync(join(tmpdir(), 'adsweep-process-'));
  const logFile = join(dir, 'talkative.log');
  const command = process.execPath;
  const options = { command, args, env: {}, logFile, logBytesMax: 9_999, slowStartMs, say };
  const supervised = new FarmProcess({ name: 'talkative', ...options });
  t.after(async () => {
    await supervised.stop(1_000);
    rmSync(dir, { recursive: true });
  });
  const rotated = () => (existsSync(`${logFile}.1`) ? readFileSync(`${logFile}.1`, 'utf8') : '');
  const numbers = () =>
    (rotated() + readFileSync(logFile, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { line?: number }).line)
      .filter((line) => line !== undefined);
  return { supervised, rotated, numbers };
}
