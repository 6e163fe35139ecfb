import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import { apiClient, exitIn, NODE_TOKEN, TICKET_SECRET, temporaryFolder } from './support/router.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

function start(t: TestContext, env: Record<string, string>) {
  const settings = { ADSWEEP_PROXY_PORT: '0', ADSWEEP_NODE_TOKEN: NODE_TOKEN, ADSWEEP_TICKET_SECRET: TICKET_SECRET };
  const child = fork(main, { env: { ...settings, ADSWEEP_DATA_DIR: temporaryFolder(), ...env }, silent: true });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('the process says where it listens, and stops on SIGTERM', async (t) => {
  const child = start(t, {});
  const [ready] = (await once(child, 'message')) as [Ready];
  const { ticket } = apiClient(`http://127.0.0.1:${ready.ports.api}`);
  assert.equal((await ticket()).server, `http://127.0.0.1:${ready.ports.gateway}`);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a process whose parent is gone stops', async (t) => {
  const child = start(t, {});
  await once(child, 'message');
  child.disconnect();
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('an exits file that cannot be used ends the start with all its problems', async (t) => {
  const file = join(temporaryFolder(), 'exits.json');
  writeFileSync(file, JSON.stringify({ exits: [exitIn('US', { provider: 'acme' })], hosts: { x: 'y' } }));
  const child = start(t, { ADSWEEP_EXITS_FILE: file });
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  assert.equal(status, 1);
  assert.match(said, /acme is unknown; known: direct, list[\s\S]*\/hosts\/x leads to y/);
});

test('an exits file that cannot be read ends the start with the reason', async (t) => {
  const folder = temporaryFolder();
  const child = start(t, { ADSWEEP_EXITS_FILE: folder });
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  assert.equal(status, 1);
  assert.equal(said, `the exits file cannot be used:\n  - ${folder} cannot be read: EISDIR\n`);
});

test('an address that is not this machine’s ends the start with the setting that has it', async (t) => {
  const child = start(t, { ADSWEEP_PROXY_HOST: '192.0.2.1' });
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  assert.equal(status, 1);
  assert.match(said, /of 192\.0\.2\.1: .*; check ADSWEEP_GATEWAY_PORT and ADSWEEP_PROXY_HOST\n$/);
});

test('settings that cannot be used end the start with all their problems', async (t) => {
  const child = start(t, { ADSWEEP_TICKET_SECRET: 'short', ADSWEEP_PROXY_PORT: 'eighty' });
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  assert.equal(status, 1);
  assert.match(said, /ADSWEEP_PROXY_PORT/);
  assert.match(said, /ADSWEEP_TICKET_SECRET/);
});
