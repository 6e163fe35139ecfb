import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

const SHUTDOWN = new URL('../src/service/shutdown.ts', import.meta.url).href;

/** A process with one part that stops when it is hurried; `part` is the body of that stop. */
async function processThatStops(part: string) {
  const code = `
    import { stopOnSignal } from ${JSON.stringify(SHUTDOWN)};
    const logger = { info() {}, error() {} };
    let hurried = () => {};
    const untilHurried = new Promise((resolve) => { hurried = resolve; });
    stopOnSignal(logger, () => [['a part', async () => { console.log('stopping'); ${part} }]], 60_000, hurried);
    setInterval(() => {}, 60_000);
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const said = (word: string) =>
    new Promise<void>((resolve) => child.stdout.on('data', (text) => String(text).includes(word) && resolve()));
  await said('ready');
  return { child, exited, said };
}

test('a second signal hurries the stop that the first one began, and the process exits 0', async () => {
  const { child, exited, said } = await processThatStops('await untilHurried;');
  const stopping = said('stopping');
  child.kill('SIGTERM');
  await stopping;
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});

test('a part that fails to stop makes the exit code 1', async () => {
  const { child, exited } = await processThatStops(`throw new Error('stuck');`);
  child.kill('SIGINT');
  assert.deepEqual(await exited, [1, null]);
});
