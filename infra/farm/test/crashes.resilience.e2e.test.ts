import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { type AdWorld, startAdWorld } from '../../demo/start-ad-world.ts';
import { RunningFarm, type Scan, writeExits } from './support/running-farm.ts';

/** So many run at once, and as many wait meanwhile. */
const SLOTS = 2;
const SCANS = 2 * SLOTS;
const dir = mkdtempSync(`${tmpdir()}/adsweep-crash-`);
let world: AdWorld;
let farm: RunningFarm;

before(async () => {
  world = await startAdWorld();
  farm = await new RunningFarm({
    ADSWEEP_EXITS_FILE: writeExits(dir, world.hosts),
    ADSWEEP_SLOTS: String(SLOTS),
  }).ready();
});
after(async () => {
  await farm.close();
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

const submitScans = (count: number, settings: object = {}) =>
  Promise.all(Array.from({ length: count }, () => farm.submit({ url: 'http://news.publisher.example/', ...settings })));

const someRuns = (scans: Scan[]) =>
  until('a running scan', async () => {
    const now = await Promise.all(scans.map(({ id }) => farm.scan(id)));
    return now.some(({ status }) => status === 'running');
  });

/** Asserts that all scans complete, each charged once, and that the part is started again in place of the process that was killed. */
async function allComplete(scans: Scan[], part: string, killed: number) {
  const ends = await Promise.all(scans.map((scan) => farm.finished(scan.id, 120)));
  assert.deepEqual(
    ends.map((scan) => `${scan.status} ${scan.error}`.trim()),
    scans.map(() => 'completed'),
  );
  for (const scan of scans)
    assert.deepEqual(await farm.charged(scan.id), [{ type: 'usage_charge', amount_micros: -10_000 }]);
  await until(`${part} to be started again`, () => farm.pidOf(part) !== killed);
}

for (const part of ['browser-node 1', 'redis', 'control-plane'])
  test(`kill -9 of ${part} in the middle of scans: every scan ends, each charged once`, async () => {
    const scans = await submitScans(SCANS, { retry_max_attempts: 5 });
    await someRuns(scans);
    const killed = farm.pidOf(part);
    process.kill(killed, 'SIGKILL');
    await allComplete(scans, part, killed);
  });

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`${signal} of the proxy-router in the middle of scans that may not be retried: every scan completes, each charged once`, async () => {
    const scans = await submitScans(SCANS);
    await someRuns(scans);
    const killed = farm.pidOf('proxy-router');
    process.kill(killed, signal);
    await allComplete(scans, 'proxy-router', killed);
  });

test('kill -9 of the whole farm in the middle of scans: after a restart every scan ends, each charged once', async () => {
  const scans = await submitScans(SCANS);
  await someRuns(scans);
  await farm.stop('SIGKILL');
  const again = { ADSWEEP_EXITS_FILE: writeExits(dir, world.hosts), ADSWEEP_SLOTS: String(SLOTS) };
  const next = await new RunningFarm(again, farm.dataDir).ready();
  try {
    const ends = await Promise.all(scans.map((scan) => next.finished(scan.id, 120)));
    assert.deepEqual(new Set(ends.map((scan) => scan.status)), new Set(['completed']));
    for (const scan of scans) assert.equal((await next.charged(scan.id)).length, 1);
  } finally {
    await next.stop();
  }
});
