import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { privateRedis } from '../private-redis.ts';

function redisIn(t: TestContext, dir: string, silenceMs?: number) {
  const said: string[] = [];
  const shortDir = () => assert.fail('the path is short enough');
  const { supervised, url, setDataAside } = privateRedis(dir, shortDir, dir, (text) => said.push(text), silenceMs);
  t.after(() => supervised.stop(2_000));
  return { supervised, setDataAside, said, socket: url.replace('unix://', '') };
}

// The folders are removed after the last test: the hooks of a test run in the order of their registration, and a Redis that still runs writes
// into its folder.
const folders = mkdtempSync(join(tmpdir(), 'adsweep-redis-'));
after(() => rmSync(folders, { recursive: true, force: true }));

const folder = () => mkdtempSync(join(folders, 'of-a-test-'));

/** Sends commands, one per line; resolves with the replies up to that of a final PING. */
function send(socket: string, commands: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const connection = connect(socket, () => connection.write(`${commands.join('\r\n')}\r\nPING\r\n`));
    connection.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.endsWith('+PONG\r\n')) {
        connection.destroy();
        resolve(said);
      }
    });
    connection.once('error', reject);
  });
}

test(
  'the start waits for a Redis that loads longer than it may be silent, and prints its progress',
  slow,
  async (t) => {
    const dir = folder();
    const first = redisIn(t, dir);
    await first.supervised.start();
    const keys = Array.from({ length: 20_000 }, (_, index) => `SET key:${index} value`);
    await send(first.socket, keys);
    await first.supervised.stop(5_000);

    const bin = join(dir, 'bin');
    mkdirSync(bin);
    const real = execFileSync('/bin/sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim();
    // Redis has a setting for tests that makes it load slowly: microseconds for each key.
    writeFileSync(join(bin, 'redis-server'), `#!/bin/sh\nexec ${real} "$@" --key-load-delay 250\n`);
    chmodSync(join(bin, 'redis-server'), 0o755);
    const path = process.env.PATH;
    process.env.PATH = `${bin}:${path}`;
    t.after(() => {
      process.env.PATH = path;
    });
    const second = redisIn(t, dir, 2_000);
    await second.supervised.start();
    assert.match(second.said.join('\n'), /redis is loading its data: \d+ %, about \d+ s to go/);
    assert.match(await send(second.socket, ['GET key:19999']), /value/);
  },
);

test('data that a power cut has damaged are set aside, and Redis starts without them', async (t) => {
  const dir = folder();
  const first = redisIn(t, dir);
  assert.equal(first.setDataAside(), null, 'there are none yet');
  await first.supervised.start();
  await send(first.socket, ['SET key value']);
  await first.supervised.stop(5_000);
  const files = join(dir, 'redis/appendonlydir');
  const written = readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '';
  // What a file system may leave of blocks that were not written yet.
  appendFileSync(join(files, written), Buffer.alloc(4_096));

  const second = redisIn(t, dir);
  await assert.rejects(second.supervised.start(), /Bad file format reading the append only file/);
  const aside = second.setDataAside();
  assert.equal(aside, join(dir, 'redis.unreadable'));
  assert.ok(existsSync(join(aside, 'appendonlydir', written)));
  const third = redisIn(t, dir);
  await third.supervised.start();
  assert.match(await send(third.socket, ['GET key']), /^\$-1/);
});

test('the private Redis evicts nothing', async (t) => {
  const { supervised, socket } = redisIn(t, folder());
  await supervised.start();
  assert.match(await send(socket, ['CONFIG GET maxmemory-policy']), /noeviction/);
});

test('the large log of a running Redis is renamed, and Redis continues in a new one', async (t) => {
  const dir = folder();
  const { supervised, socket } = redisIn(t, dir);
  await supervised.start();
  writeFileSync(join(dir, 'redis.log'), Buffer.alloc(21 * 1024 * 1024, 'x'), { flag: 'a' });
  await until('the old log', () => existsSync(join(dir, 'redis.log.1')));
  await send(socket, ['BGREWRITEAOF']);
  const log = () => (existsSync(join(dir, 'redis.log')) ? readFileSync(join(dir, 'redis.log'), 'utf8') : '');
  await until('a line in the new log', () => /rewrit/i.test(log()));
});
