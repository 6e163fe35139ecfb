import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { it } from 'node:test';

const LOGGER = new URL('../src/service/logger.ts', import.meta.url);
/** A file on which nothing has room, as on a full disk. */
const FULL = '/dev/full';

it('a line that a full disk cannot take ends neither its caller nor the process', { skip: !existsSync(FULL) }, () => {
  const script = `
    const { createLogger } = await import('${LOGGER}');
    const logger = createLogger('test');
    logger.info('in its caller');
    setTimeout(() => { logger.info('in a timer'); setTimeout(() => console.error('goes on'), 10); }, 10);
  `;
  const stdio = ['ignore', openSync(FULL, 'w'), 'pipe'] as const;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: [...stdio],
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, 'goes on\n']);
});
