import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';

it('the ad world’s process reports its port and ends on SIGTERM', async () => {
  const env = { ...process.env, ADSWEEP_DEMO_PORT: '0' };
  const child = fork(join(import.meta.dirname, '../main.ts'), { env, silent: true });
  const [{ type, ports }] = (await once(child, 'message')) as [Ready];
  assert.equal(type, 'ready');
  const answer = await fetch(`http://127.0.0.1:${ports.http}/log`);
  assert.deepEqual(await answer.json(), []);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
