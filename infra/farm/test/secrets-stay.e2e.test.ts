import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { commandOf, descendantsOf, environmentOf } from './support/processes-of.ts';
import { RunningFarm, writeExits } from './support/running-farm.ts';

/** The farm's secrets that each process must know, including the key of the first organization. */
const KNOWN_BY: [part: RegExp, secrets: string[]][] = [
  [/control-plane\/src\/main\.ts/, ['api_key', 'node_token', 'lease_secret']],
  [/proxy-router\/src\/main\.ts/, ['node_token', 'ticket_secret']],
  [/browser-node\/src\/main\.ts/, ['node_token']],
  [/infra\/demo\/main\.ts/, []],
  [/redis-server/, []],
  [/--type=renderer/, []],
  [/--user-data-dir=/, []],
];

test('no process of the farm has another process’ secret in its environment', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-secrets-'));
  // A page that never finishes loading, so that its renderer can be inspected.
  const site = createServer((request, response) => {
    if (request.url === '/') response.setHeader('content-type', 'text/html').end('<img src="/never">');
  });
  t.after(() => {
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true });
  });
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const exits = writeExits(folder, { 'slow.example': `127.0.0.1:${(site.address() as AddressInfo).port}` });
  const farm = new RunningFarm({ ADSWEEP_DEMO: '1', ADSWEEP_EXITS_FILE: exits, OPERATOR_PASSWORD: 'of-the-operator' });
  t.after(() => farm.close());
  await farm.ready();
  await farm.submit({ url: 'http://slow.example/' });
  const hasRenderer = () => descendantsOf(farm.pid).some((pid) => commandOf(pid).includes('--type=renderer'));
  await until('a renderer', hasRenderer, 30);

  const secrets: Record<string, string> = JSON.parse(readFileSync(join(farm.dataDir, 'secrets.json'), 'utf8'));
  const processes = descendantsOf(farm.pid).map((pid) => ({ command: commandOf(pid), text: environmentOf(pid) }));
  for (const [part, own] of KNOWN_BY) {
    const found = processes.filter(({ command }) => part.test(command));
    assert.ok(found.length > 0, `${part} runs`);
    for (const { command, text } of found) {
      const known = Object.keys(secrets).filter((name) => text.includes(secrets[name] ?? ''));
      assert.deepEqual(known, own, command);
    }
  }
  for (const { command, text } of processes) assert.doesNotMatch(text, /of-the-operator/, command);
});
