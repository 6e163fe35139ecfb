import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BoundedQueue, QueueFull } from '../../src/platform/bounded-queue.ts';

const never = new AbortController().signal;

describe('a bounded queue', () => {
  test('runs two tasks at once, lets one wait, refuses the next, and then continues', async () => {
    const queue = new BoundedQueue(2, 1);
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const work = (id: number) => () => {
      begun.push(id);
      return new Promise<number>((resolve) => ends.push(() => resolve(id)));
    };
    const running = [1, 2, 3].map((id) => queue.run(work(id), never));
    await assert.rejects(queue.run(work(4), never), QueueFull);
    assert.deepEqual(begun, [1, 2]);
    ends[0]?.();
    assert.equal(await running[0], 1);
    assert.deepEqual(begun, [1, 2, 3]);
    ends[1]?.();
    ends[2]?.();
    assert.deepEqual(await Promise.all(running), [1, 2, 3]);
    assert.equal(await queue.run(async () => 5, never), 5);
  });

  test('removes an aborted task, so that another one can wait', async () => {
    const queue = new BoundedQueue(1, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = queue.run(() => promise, never);
    const leaving = new AbortController();
    const left = queue.run(async () => assert.fail('an aborted task was run'), leaving.signal);
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    const next = queue.run(async () => 'served', never);
    resolve();
    await first;
    assert.equal(await next, 'served');
  });
});
