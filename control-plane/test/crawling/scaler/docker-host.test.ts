import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { dockerHost } from '../../../src/crawling/scaler/docker-host.ts';

/** An engine that does this with each request. */
async function engine(t: TestContext, answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => answer(socket));
    t.after(() => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return dockerHost({ host: '127.0.0.1', port }, 'farm', { Image: 'adsweep/browser-node' }, 300);
}

const BEGINNING = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[';

describe('a Docker engine', () => {
  const ends: [string, (socket: Socket) => void][] = [
    ['ends its connection in the middle of an answer', (socket) => socket.end(BEGINNING)],
    ['says nothing more in the middle of an answer', (socket) => socket.write(BEGINNING)],
    ['says nothing', () => undefined],
  ];
  for (const [how, answer] of ends)
    it(`that ${how} fails each call in time`, async (t) => {
      const host = await engine(t, answer);
      const calls = [host.read(), host.start('a', 'image'), host.stop('a'), host.remove('a')];
      const isInTime = /took longer than 300 ms|socket hang up|ECONNRESET/;
      await Promise.all(calls.map((call) => assert.rejects(call, isInTime)));
    });
});
