import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { type AdWorld, startAdWorld } from '../../demo/start-ad-world.ts';
import { RunningFarm, writeExits } from './support/running-farm.ts';

const SCANS = 12;
const [NODES, SLOTS] = [2, 2];
const dir = mkdtempSync(`${tmpdir()}/adsweep-drain-`);
let world: AdWorld;
let farm: RunningFarm;

before(async () => {
  world = await startAdWorld();
  const settings = { ADSWEEP_NODES: String(NODES), ADSWEEP_SLOTS: String(SLOTS) };
  farm = await new RunningFarm({ ADSWEEP_EXITS_FILE: writeExits(dir, world.hosts), ...settings }).ready();
});
after(async () => {
  await farm.close();
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

const read = async <T>(path: string): Promise<T> => (await (await farm.call('GET', path)).json()) as T;
const running = async () => (await read<{ total: number }>('/api/v1/scans?status=running&limit=1')).total;
const inState = async (state: string) =>
  (await read<{ items: { id: string }[] }>(`/api/v1/fleet/nodes?state=${state}`)).items.map(({ id }) => id);

test('§4.6.3 nodes that drain under load, one by the API and one by SIGTERM, fail no scan', async () => {
  const scans = await Promise.all(
    Array.from({ length: SCANS }, () => farm.submit({ url: 'http://news.publisher.example/' })),
  );
  await until('every slot to be taken', async () => (await running()) === NODES * SLOTS, 60);
  const stopped = farm.pidOf('browser-node 2');
  process.kill(stopped, 'SIGTERM');
  assert.equal((await farm.call('POST', '/api/v1/fleet/nodes/local-1/drain')).status, 204);

  const ends = await Promise.all(scans.map(({ id }) => farm.finished(id, 120)));
  assert.deepEqual(
    ends.map(({ status, error, retry_attempt }) => `${status} ${error} ${retry_attempt}`),
    scans.map(() => 'completed  0'),
  );
  for (const { id } of scans) assert.equal((await farm.charged(id)).length, 1);
  assert.match(farm.output, /browser-node 2 died \(code 0\)/);
  await until('the one to be drained', async () => (await inState('drained')).includes('local-1'), 60);
  await until('the other one to be working again', async () => (await inState('working')).includes('local-2'), 60);
});
