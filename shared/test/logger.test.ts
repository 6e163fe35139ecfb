import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, it } from 'node:test';

const LOGGER = new URL('../src/service/logger.ts', import.meta.url);
const PRINTED = new URL('../src/service/lose-unwritten-output.ts', import.meta.url);
/** A file on which nothing has room, as on a full disk. */
const FULL = '/dev/full';

/**
 * What a process whose standard output is full does with this script, the body of a function of `module`: its exit code,
 * and what it says at last.
 */
function ranWhileFull(module: URL, body: string): [number | null, string] {
  const script = `const run = (module) => {${body}}; import(process.argv[1]).then(run);`;
  const output = openSync(FULL, 'w');
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, module.href], {
    stdio: ['ignore', output, 'pipe'],
    timeout: 20_000,
    encoding: 'utf8',
  });
  closeSync(output);
  return [status, stderr];
}

describe('a full disk', { skip: !existsSync(FULL) }, () => {
  it('that cannot take a line of the log ends neither its caller nor the process', () => {
    const script = `
      const logger = module.createLogger('test');
      logger.info('in its caller');
      logger.fatal('the last words of a process');
      setTimeout(() => { logger.info('in a timer'); setTimeout(() => console.error('goes on'), 10); }, 10);
    `;
    assert.deepEqual(ranWhileFull(LOGGER, script), [0, 'goes on\n']);
  });

  it('that cannot take what a process prints does not end the process', () => {
    const script = `
      module.loseUnwrittenOutput();
      console.log('at once');
      setTimeout(() => { console.log('in a timer'); setTimeout(() => console.error('goes on'), 10); }, 10);
    `;
    assert.deepEqual(ranWhileFull(PRINTED, script), [0, 'goes on\n']);
  });
});
