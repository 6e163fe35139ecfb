import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import sharp from 'sharp';
import { QueueFull } from '../../../src/platform/bounded-queue.ts';
import { NotResized, PictureCache, PicturePool } from '../../../src/scanning/artifacts/picture-pool.ts';
import { isLate } from '../../../src/scanning/artifacts/resize-screenshot.ts';

const never = new AbortController().signal;
const wide = (width: number | null) => ({ width, isWhole: false });
const OF_OURS = { organizationId: 'ours', width: 400, height: 300 };

describe('the picture pool', () => {
  const pool = new PicturePool();
  after(() => pool.close());

  test('resizes pictures in a process of its own and caches the results', async () => {
    const stored = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } })
      .webp()
      .toBuffer();
    let opened = 0;
    const read = async () => {
      opened++;
      return Readable.from([stored]);
    };
    const picture = { ...OF_OURS, sha256: 'a', read };
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
    const broken = { ...OF_OURS, sha256: 'b', read: async () => Readable.from([Buffer.from('RIFF....WEBP')]) };
    await assert.rejects(pool.resize(broken, wide(200), never), /could not be resized/);
    await assert.rejects(pool.resize(broken, wide(200), never), /could not be resized/);
  });
});

test('the picture pool rejects pictures whose process ends meanwhile as late, and serves them when they are requested again', async () => {
  const pool = new PicturePool();
  const stored = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } })
    .webp()
    .toBuffer();
  const resize = (sha256: string) => {
    const read = async () => Readable.from([stored]);
    return pool.resize({ ...OF_OURS, sha256, read }, wide(200), never);
  };
  await resize('first');
  const ending = pool.close();
  const isUnavailable = (error: unknown) => error instanceof NotResized && error.isLate;
  await Promise.all(['a', 'b'].map((name) => assert.rejects(resize(name), isUnavailable)));
  await ending;
  assert.ok((await resize('a')).length > 0);
  await pool.close();
});

test('the picture pool rejects pictures whose process cannot be started as late, and serves them when one can', async (t) => {
  const pool = new PicturePool();
  t.after(() => pool.close());
  const stored = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } })
    .webp()
    .toBuffer();
  const picture = { ...OF_OURS, sha256: 'a', read: async () => Readable.from([stored]) };
  // Without a free file descriptor, Node.js makes no channel to the process, and reports the error a moment later.
  const starts = ChildProcess.prototype as unknown as { spawn(): void };
  const spawn = t.mock.method(starts, 'spawn', function (this: unknown) {
    process.nextTick(() => (this as ChildProcess).emit('error', new Error('spawn EMFILE')));
  });
  const isUnavailable = (error: unknown) => error instanceof NotResized && error.isLate;
  await assert.rejects(pool.resize(picture, wide(200), never), isUnavailable);
  spawn.mock.restore();
  assert.ok((await pool.resize(picture, wide(200), never)).length > 0);
});

test('the picture pool refuses more than eighteen pictures of one organization at once, reads none that waits, and resizes one of another organization', async () => {
  const pool = new PicturePool();
  const held = Promise.withResolvers<void>();
  const stored = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } })
    .webp()
    .toBuffer();
  let reads = 0;
  const resize = (organizationId: string, sha256: string) => {
    async function* bytes() {
      reads++;
      await held.promise;
      yield stored;
    }
    return pool.resize(
      { ...OF_OURS, organizationId, sha256, read: async () => Readable.from(bytes()) },
      wide(200),
      never,
    );
  };
  const ours = Array.from({ length: 18 }, (_, at) => resize('ours', `ours ${at}`));
  await assert.rejects(resize('ours', 'one more'), QueueFull);
  const theirs = resize('theirs', 'theirs');
  assert.equal(reads, 2);
  held.resolve();
  assert.ok((await theirs).length > 0);
  await Promise.all(ours);
  await pool.close();
});

test('a resize that took longer than its limit is late, whatever its error says', () => {
  assert.deepEqual([isLate(150), isLate(19_999), isLate(20_000), isLate(20_400)], [false, false, true, true]);
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
