import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { type AdWorld, startAdWorld } from '../../demo/start-ad-world.ts';
import { RunningFarm, writeExits } from './support/running-farm.ts';

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

for (const part of ['browser-node 1', 'redis', 'control-plane', 'proxy-router'])
  test(`kill -9 of ${part} in the middle of scans: every scan ends, each charged once`, async () => {
    const scans = await Promise.all(
      Array.from({ length: SCANS }, () =>
        farm.submit({ url: 'http://news.publisher.example/', retry_max_attempts: 5 }),
      ),
    );
    await until('a running scan', async () => {
      const now = await Promise.all(scans.map((scan) => farm.scan(scan.id)));
      return now.some((scan) => scan.status === 'running') ? true : null;
    });
    const killed = farm.pidOf(part);
    process.kill(killed, 'SIGKILL');

    const ends = await Promise.all(scans.map((scan) => farm.finished(scan.id, 120)));
    assert.deepEqual(
      ends.map((scan) => `${scan.status} ${scan.error}`.trim()),
      scans.map(() => 'completed'),
    );
    for (const scan of scans)
      assert.deepEqual(await farm.charged(scan.id), [{ type: 'usage_charge', amount_micros: -10_000 }]);
    await until(`${part} to be started again`, () => farm.pidOf(part) !== killed);
  });

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`${signal} of the proxy-router in the middle of scans that may not be retried: every scan completes`, async () => {
    const scans = await Promise.all(
      Array.from({ length: 2 * SCANS }, () => farm.submit({ url: 'http://news.publisher.example/' })),
    );
    await until('a running scan', async () => {
      const now = await Promise.all(scans.map((scan) => farm.scan(scan.id)));
      return now.some((scan) => scan.status === 'running') ? true : null;
    });
    const killed = farm.pidOf('proxy-router');
    process.kill(killed, signal);
    const ends = await Promise.all(scans.map((scan) => farm.finished(scan.id, 120)));
    assert.deepEqual(
      ends.map((scan) => `${scan.status} ${scan.error}`.trim()),
      scans.map(() => 'completed'),
    );
    await until('the proxy-router to be started again', () => farm.pidOf('proxy-router') !== killed);
  });

test('kill -9 of the whole farm in the middle of scans: after a restart every scan ends, each charged once', async () => {
  const scans = await Promise.all(
    Array.from({ length: SCANS }, () => farm.submit({ url: 'http://news.publisher.example/' })),
  );
  await until('a running scan', async () => ((await farm.scan(scans[0]?.id ?? '')).status === 'running' ? true : null));
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
