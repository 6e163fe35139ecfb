import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { connectTo } from '../src/providers/connect-to.ts';
import { TunnelSocket } from '../src/providers/tunnel-socket.ts';
import { startRawTarget } from './support/target.ts';

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A socket to a target of our own, and the target's end of it. */
async function connected(t: TestContext): Promise<{ socket: TunnelSocket; target: Socket }> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const { address } = await startRawTarget(t, resolve);
  const socket = new TunnelSocket(new AbortController().signal);
  t.after(() => socket.destroy());
  socket.connect(Number(address.split(':')[1]), '127.0.0.1');
  await once(socket, 'connect');
  return { socket, target: await promise };
}

/** The two ends of a connection: what is written to `near` is read from `far`. */
async function connectionPair(t: TestContext): Promise<{ near: Socket; far: Socket }> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const { address } = await startRawTarget(t, resolve);
  const near = connect(Number(address.split(':')[1]), '127.0.0.1');
  t.after(() => near.destroy());
  return { near, far: await promise };
}

/** Reads everything once the writer has to wait. */
async function readLate(near: Socket, far: Socket): Promise<Buffer> {
  while (near.writableLength === 0) await setImmediate();
  return buffer(far);
}

test('many tunnels to slow readers deliver every byte in order, and then their end', async (t) => {
  const tunnels = Array.from({ length: 3 }, async () => {
    // More than the system's buffers take.
    const sent = randomBytes(12_000_000);
    const [{ socket, target }, { near, far }] = await Promise.all([connected(t), connectionPair(t)]);
    let counted = 0;
    socket.forwardTo(near, () => (counted += 1));
    // Chunks of all sizes: some fill the reader's buffer, some do not.
    const cuts = [0, 1, 101, 5_101, 70_637, 370_637, 374_733, sent.length];
    const pieces = cuts.slice(1).map((to, index) => sent.subarray(cuts[index], to));
    const [received] = await Promise.all([readLate(near, far), pipeline(Readable.from(pieces), target)]);
    assert.equal(digest(received), digest(sent));
    assert.ok(counted > 0);
  });
  await Promise.all(tunnels);
});

/** A receiver that has written nothing when `write` returns, such as a TLS connection. */
class LateReceiver extends Duplex {
  readonly #chunks: Buffer[] = [];

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    void setImmediate().then(() => {
      this.#chunks.push(Buffer.from(chunk));
      done();
    });
  }

  /** Everything written, once it ended. */
  async received(): Promise<Buffer> {
    await once(this, 'finish');
    return Buffer.concat(this.#chunks);
  }
}

test('a receiver that writes later gets the bytes that were read, of bursts and of trickles, also beside other tunnels', async (t) => {
  const tunnels = Array.from({ length: 4 }, async () => {
    const { socket, target } = await connected(t);
    const late = new LateReceiver();
    socket.forwardTo(late, () => {});
    const pieces = [90_000, 10, 4_096, 300_000, 1_000, 70_000].map((bytes) => randomBytes(bytes));
    const received = late.received();
    for (const piece of pieces) {
      target.write(piece);
      // Each piece ends with a read of its own.
      await setTimeout(10);
    }
    target.end();
    assert.equal(digest(await received), digest(Buffer.concat(pieces)));
  });
  await Promise.all(tunnels);
});

test('what was read before the forwarding, and what was put back, goes first', async (t) => {
  const [{ socket, target }, { near, far }] = await Promise.all([connected(t), connectionPair(t)]);
  target.write('head body');
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  socket.unshift(first.subarray('head '.length));
  socket.forwardTo(near, () => {});
  target.end(' and the rest');
  assert.equal(await text(far), 'body and the rest');
});

test('a tunnel that is closed while its reader waits leaves other tunnels alone', async (t) => {
  const [stuck, held] = await Promise.all([connected(t), connectionPair(t)]);
  stuck.socket.forwardTo(held.near, () => {});
  const flood = randomBytes(8_000_000);
  stuck.target.write(flood);
  while (held.near.writableLength === 0) await setImmediate();
  stuck.socket.destroy();
  const [{ socket, target }, { near, far }] = await Promise.all([connected(t), connectionPair(t)]);
  socket.forwardTo(near, () => {});
  const sent = randomBytes(1_000_000);
  target.end(sent);
  assert.equal(digest(await buffer(far)), digest(sent));
  const rest = buffer(held.far);
  held.near.end();
  const received = await rest;
  assert.equal(digest(received), digest(flood.subarray(0, received.length)));
});

test('a server that accepted while this process was busy is connected to, and not given up for its next address', async (t) => {
  const { address } = await startRawTarget(t, (socket) => socket.resume());
  const port = Number(address.split(':')[1]);
  // Nothing listens at the second address.
  const connecting = connectTo(['127.0.0.1', '127.0.0.2'], port, new AbortController().signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  const socket = await connecting;
  assert.equal(socket.remoteAddress, '127.0.0.1');
  socket.destroy();
});
