import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { RunningFarm, writeExits } from './support/running-farm.ts';

test('a page that kills its node every time fails alone; concurrent scans complete', async (t) => {
  const dir = mkdtempSync(`${tmpdir()}/adsweep-killer-`);
  const visited = new Set<string>();
  const allThere = Promise.withResolvers<void>();
  const firstKill = Promise.withResolvers<void>();
  const killed = new Set<number>();
  let farm: RunningFarm;

  /** `/killer` kills the requesting node, the first time once the other pages have loaded; their images are served after that. */
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    visited.add(path);
    if (['/killer', '/one', '/two'].every((one) => visited.has(one))) allThere.resolve();
    if (path === '/killer') {
      await allThere.promise;
      const pid = farm.pidOf('browser-node 1');
      // A browser may send a second request before it ends with its node.
      if (!killed.has(pid)) process.kill(pid, 'SIGKILL');
      killed.add(pid);
      firstKill.resolve();
      response.destroy();
    } else if (path === '/picture') {
      await firstKill.promise;
      response.end();
    } else response.setHeader('content-type', 'text/html').end('<title>innocent</title><img src="/picture">');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  farm = new RunningFarm({
    ADSWEEP_EXITS_FILE: writeExits(dir, { 'killer.example': host, 'innocent.example': host }),
    ADSWEEP_SLOTS: '3',
  });
  t.after(async () => {
    await farm.close();
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await farm.ready();

  const innocents = ['http://innocent.example/one', 'http://innocent.example/two'];
  const [killer, ...others] = await Promise.all(
    ['http://killer.example/killer', ...innocents].map((url) => farm.submit({ url })),
  );
  assert.ok(killer);
  const ends = await Promise.all([killer, ...others].map(({ id }) => farm.finished(id, 150)));
  assert.deepEqual(
    ends.map(({ status, error }) => [status, error]),
    [
      ['failed', 'node: LOST'],
      ['completed', ''],
      ['completed', ''],
    ],
  );
  assert.equal(killed.size, 4);
  await until('the refund', async () => (await farm.ledgerOf(killer.id)).some(({ type }) => type === 'refund'));
});
