import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { fetchInTime } from '../src/service/fetch-in-time.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n';

/** What the server says to whoever connects; it never says more. */
let says = '';
let url = '';
const open = new Set<Socket>();
const server = createServer((socket) => {
  open.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('data', () => socket.write(says));
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(() => {
  for (const socket of open) socket.destroy();
  server.close();
});

test('an answer is read to its end', async () => {
  says = `${HEAD}done`;
  const { headers, ...answer } = await fetchInTime(url, {}, 5_000);
  assert.deepEqual(answer, { status: 200, isOk: true, text: 'done' });
  assert.ok(headers.has('content-length'));
});

test('a peer that says nothing, or half of it, is not waited for', async () => {
  for (const half of ['', `${HEAD}do`]) {
    says = half;
    await assert.rejects(fetchInTime(url, { method: 'POST' }, 50), /^Error: POST http:.* was not answered in time$/);
  }
});

test('the caller’s own signal ends it with the caller’s reason', async () => {
  says = '';
  const gone = new AbortController();
  const asked = fetchInTime(url, { signal: gone.signal }, 5_000);
  gone.abort(new Error('nobody wants it any more'));
  await assert.rejects(asked, /nobody wants it any more/);
});
