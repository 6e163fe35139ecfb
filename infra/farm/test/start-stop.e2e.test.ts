import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { processesOf, temporaryFolder } from './support/processes-of.ts';
import { RunningFarm } from './support/running-farm.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'adsweep-start-'));
const started: RunningFarm[] = [];
after(async () => {
  await Promise.all(started.map((farm) => farm.stop()));
  for (const folder of [dataDir, temporaryFolder(dataDir)]) rmSync(folder, { recursive: true, force: true });
});

function startFarm(env: NodeJS.ProcessEnv = {}): RunningFarm {
  const farm = new RunningFarm(env, dataDir);
  started.push(farm);
  return farm;
}

let running: RunningFarm | null = null;
/** A farm that several tests look at, one after the other; the one that ends it lets the next one start another. */
const runningFarm = async () => (running ??= await startFarm().ready());

test('a farm starts, scans a page of the ad world, stops within 10 s and leaves no process and no lock', async () => {
  const farm = await startFarm({ ADSWEEP_DEMO: '1' }).ready();
  await farm.says(/completed: \d+ hops/);
  await farm.says(/^ {2}open http\S+\/console and sign in/m);
  await farm.says(/^ {2}next: open http\S+\/ /m);
  const [, report = ''] = await farm.says(/report: (\S+)/);
  const page = await fetch(report);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /go\.redirects\.example/);

  const began = performance.now();
  assert.equal(await farm.stop('SIGINT'), 0);
  assert.ok(performance.now() - began < 10_000);
  assert.match(farm.output, /^adsweep: stopping.*\nadsweep: stopped\n$/m);
  assert.deepEqual(processesOf(dataDir), []);
  assert.equal(existsSync(join(dataDir, 'farm.lock')), false);
});

test('a second start continues with the data of the first, also if a power cut has damaged those of Redis', async () => {
  const files = join(dataDir, 'redis/appendonlydir');
  const written = readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '';
  appendFileSync(join(files, written), Buffer.alloc(4_096));
  const farm = await runningFarm();
  assert.match(farm.output, /redis: it ended with code 1.*its data are in \S+redis\.unreadable now/s);
  const { items } = (await (await farm.call('GET', '/api/v1/scans')).json()) as { items: { status: string }[] };
  assert.deepEqual(
    items.map((scan) => scan.status),
    ['completed'],
  );
});

test('a start on a data folder in use reports it and exits 1, and the first farm keeps running', async () => {
  const first = await runningFarm();
  const second = startFarm();
  assert.equal(await second.ended(), 1);
  assert.match(second.output, /is in use by another Adsweep/);
  assert.equal((await fetch(`${first.baseUrl}/healthz`)).status, 200);
});

test('the processes of a killed farm end, and the next start works', async () => {
  const killed = await runningFarm();
  running = null;
  await killed.stop('SIGKILL');
  await until('the end of all its processes', () => (processesOf(dataDir).length === 0 ? true : null), 15);
  const next = await startFarm().ready();
  assert.equal(await next.stop(), 0);
});

test('a port in use is reported with advice, and the start exits 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const farm = startFarm({ ADSWEEP_HTTP_PORT: String(port) });
  assert.equal(await farm.ended(), 1);
  assert.match(
    farm.output,
    new RegExp(`port ${port} of 127.0.0.1 is taken by another program: .*set ADSWEEP_HTTP_PORT`),
  );
});

test('a farm that a killed program has started ends, such as that of `npm run corpus`', async () => {
  const module = new URL('./support/running-farm.ts', import.meta.url).href;
  const script = `import { RunningFarm } from ${JSON.stringify(module)}; new RunningFarm({}, ${JSON.stringify(dataDir)})`;
  const program = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  // The farm and its first service.
  await until('a farm', () => processesOf(dataDir).length >= 2);
  program.kill('SIGKILL');
  await until('the end of all its processes', () => processesOf(dataDir).length === 0, 30);
});

test('all unusable settings are reported at once', async () => {
  const farm = startFarm({ ADSWEEP_HTTP_PORT: 'eighty', ADSWEEP_NODES: '-1' });
  assert.equal(await farm.ended(), 1);
  assert.match(farm.output, /ADSWEEP_HTTP_PORT/);
  assert.match(farm.output, /ADSWEEP_NODES/);
});
