import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ThreadPool } from '../../../src/analysis/threads/thread-pool.ts';

/** A thread that replies when it is told to, by a number in shared memory. */
const SCRIPT = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ gate }) => { Atomics.wait(gate, 0, 0); parentPort.postMessage('done'); });
  `)}`,
);

/** A pool of `size` threads, the tasks that were done in order, and those that were lost. */
function poolOf(t: TestContext, size: number) {
  const pool = new ThreadPool<{ gate: Int32Array }, string>(SCRIPT, size);
  t.after(() => pool.close());
  const [done, lost]: [string[], string[]] = [[], []];
  const run = (name: string) => {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const ended = Promise.withResolvers<void>();
    pool.run({
      ...{ owner: name.split(' ')[0]!, request: { gate }, limitMs: 60_000 },
      onMessage: () => {
        done.push(name);
        ended.resolve();
        return { done: true };
      },
      onLost: (reason) => {
        lost.push(`${name}: ${reason}`);
        ended.resolve();
      },
    });
    const open = () => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    };
    return { open, ended: ended.promise };
  };
  return { pool, run, done, lost };
}

test('organizations share the threads: one task of another does not wait for all that one has queued', async (t) => {
  const { run, done } = poolOf(t, 1);
  const tasks = ['busy 1', 'busy 2', 'busy 3', 'other 1', 'third 1', 'other 2'].map(run);
  for (const { open } of tasks) open();
  await Promise.all(tasks.map(({ ended }) => ended));
  assert.deepEqual(done, ['busy 1', 'busy 2', 'other 1', 'third 1', 'busy 3', 'other 2']);
});

test('a free thread runs a task of the organization that has the fewest running', async (t) => {
  const { run, done } = poolOf(t, 2);
  const [first, second, third, other] = ['busy 1', 'busy 2', 'busy 3', 'other 1'].map(run);
  // The second thread stays busy: the next task is not one of the same organization, although that waited first.
  first!.open();
  other!.open();
  await other!.ended;
  for (const { open } of [second!, third!]) open();
  await Promise.all([second!.ended, third!.ended]);
  assert.deepEqual(done.slice(0, 2), ['busy 1', 'other 1']);
});

test('running, waiting and later tasks of a closed pool are told that they are lost', async (t) => {
  const { pool, run, done, lost } = poolOf(t, 1);
  const tasks = ['one 1', 'one 2', 'two 1'].map(run);
  await pool.close();
  await Promise.all([...tasks, run('one 3')].map(({ ended }) => ended));
  assert.deepEqual(done, []);
  assert.deepEqual(
    lost.sort(),
    ['one 1', 'one 2', 'one 3', 'two 1'].map((name) => `${name}: the threads were closed`),
  );
});
