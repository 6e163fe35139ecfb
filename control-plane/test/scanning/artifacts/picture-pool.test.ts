import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import sharp from 'sharp';
import { BoundedQueue, PictureCache, PicturePool, QueueFull } from '../../../src/scanning/artifacts/picture-pool.ts';

const never = new AbortController().signal;
const wide = (width: number | null) => ({ width, isWhole: false });

describe('the picture pool', () => {
  const pool = new PicturePool();
  after(() => pool.close());

  test('resizes pictures in a process of its own and caches the results', async () => {
    const stored = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } })
      .webp()
      .toBuffer();
    let opened = 0;
    const open = () => {
      opened++;
      return Readable.from([stored]);
    };
    const picture = { sha256: 'a', width: 400, height: 300, open };
    const [first, second] = await Promise.all([
      pool.resize(picture, wide(200), never),
      pool.resize(picture, wide(100), never),
    ]);
    assert.equal((await sharp(first).metadata()).width, 200);
    assert.equal((await sharp(second).metadata()).width, 100);
    assert.ok((await pool.resize(picture, wide(200), never)).equals(first));
    assert.equal(opened, 2);
  });

  test('rejects a picture that it cannot decode, and then serves the next one', async () => {
    const broken = { sha256: 'b', width: 400, height: 300, open: () => Readable.from([Buffer.from('RIFF....WEBP')]) };
    await assert.rejects(pool.resize(broken, wide(200), never), /could not be resized/);
    await assert.rejects(pool.resize(broken, wide(200), never), /could not be resized/);
  });
});

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

test('the picture cache keeps the most recently used pictures, up to its limit in bytes', () => {
  const cache = new PictureCache(10);
  cache.set('a', Buffer.alloc(4));
  cache.set('b', Buffer.alloc(4));
  assert.ok(cache.get('a'));
  cache.set('c', Buffer.alloc(4));
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => cache.get(name)?.length),
    [4, undefined, 4],
  );
  cache.set('huge', Buffer.alloc(11));
  assert.equal(cache.get('huge'), undefined);
});
