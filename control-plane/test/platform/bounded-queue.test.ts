import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../../shared/test/support/until.ts';
import { BoundedQueue, QueueFull } from '../../src/platform/bounded-queue.ts';

describe('a bounded queue', () => {
  test('runs two tasks at once, lets one wait, refuses the next, and then continues', async () => {
    const queue = new BoundedQueue({ running: 2, waiting: 1 });
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const work = (id: number) => () => {
      begun.push(id);
      return new Promise<number>((resolve) => ends.push(() => resolve(id)));
    };
    const running = [1, 2, 3].map((id) => queue.run(work(id)));
    await assert.rejects(queue.run(work(4)), QueueFull);
    assert.deepEqual(begun, [1, 2]);
    ends[0]?.();
    assert.equal(await running[0], 1);
    assert.deepEqual(begun, [1, 2, 3]);
    ends[1]?.();
    ends[2]?.();
    assert.deepEqual(await Promise.all(running), [1, 2, 3]);
    assert.equal(await queue.run(async () => 5), 5);
  });

  test('removes an aborted task, so that another one can wait', async () => {
    const queue = new BoundedQueue({ running: 1, waiting: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = queue.run(() => promise);
    const leaving = new AbortController();
    const left = queue.run(async () => assert.fail('an aborted task was run'), { signal: leaving.signal });
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    const next = queue.run(async () => 'served');
    resolve();
    await first;
    assert.equal(await next, 'served');
  });

  test('refuses an owner with many waiting tasks, and serves the others in turn with it', async () => {
    const queue = new BoundedQueue({ running: 2, waiting: 4, waitingEach: 2 });
    const ends: (() => void)[] = [];
    const begun: string[] = [];
    const run = (owner: string) =>
      queue.run(
        () => {
          begun.push(owner);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        { owner },
      );
    const all = ['many', 'many', 'many', 'many'].map(run);
    await assert.rejects(run('many'), QueueFull);
    all.push(run('one'), run('other'));
    await assert.rejects(run('a third one'), QueueFull);
    for (let served = 0; served < all.length; served += 1) {
      await until('the next task has begun', () => ends.length > served);
      ends[served]!();
    }
    await Promise.all(all);
    assert.deepEqual(begun, ['many', 'many', 'one', 'many', 'other', 'many']);
  });
});
