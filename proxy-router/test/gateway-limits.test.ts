import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { until } from '../../shared/test/support/until.ts';
import { openTunnel, proxyAuthorization, request, sendRaw } from './support/proxy-client.ts';
import { startTestRouter } from './support/router.ts';
import { startRawTarget, startTarget } from './support/target.ts';

test('headers beyond the limit are answered 431, told apart from an answer of the target', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: { 'shop.example': target.address } });
  const ticket = await router.ticket();
  const get = (cookie: string) =>
    sendRaw(
      ticket,
      `GET http://shop.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\nCookie: ${cookie}\r\n\r\n`,
    );
  assert.match(
    await get('c'.repeat(60_000)),
    /^HTTP\/1\.1 431 [\s\S]*adsweep-gateway-outcome: connection_failed[\s\S]*"headers_too_large"/,
  );
  assert.match(await get('c'.repeat(12_000)), /^HTTP\/1\.1 200 [\s\S]*a page/);
});

test('what is no request is answered 400, and the gateway goes on', async (t) => {
  const router = await startTestRouter(t);
  assert.match(await sendRaw(await router.ticket(), '\u0000\u0001\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*"bad_request"/);
  await router.ticket();
});

test('connections beyond the limit are closed; one that ends makes room', async (t) => {
  const target = await startTarget(t);
  const hosts = { 'shop.example': target.address };
  const router = await startTestRouter(t, { hosts, config: { ADSWEEP_GATEWAY_CONNECTIONS_MAX: 2 } });
  const ticket = await router.ticket();
  const idle = [connect(router.ports.gateway, '127.0.0.1'), connect(router.ports.gateway, '127.0.0.1')];
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  await assert.rejects(request(ticket, 'http://shop.example/'));
  idle[0]?.destroy();
  await until('room', () =>
    request(ticket, 'http://shop.example/').then(
      () => true,
      () => false,
    ),
  );
  idle[1]?.destroy();
});

test('a router that stops lets its tunnels end, tells what they carried, and takes no new ones', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.pipe(socket));
  const hosts = { 'shop.example': target.address };
  const router = await startTestRouter(t, { hosts, config: { ADSWEEP_DRAIN_SECONDS: 60 } });
  const ticket = await router.ticket();
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  const stopped = router.stop();
  await until('the gateway to take nothing new', () =>
    openTunnel(ticket, 'shop.example:443').then(
      () => false,
      () => true,
    ),
  );
  assert.equal((await fetch(`http://127.0.0.1:${router.ports.api}/readyz`)).status, 503);
  await assert.rejects(router.ticket(), /503.*NODE_BUSY/);
  socket.end('to the end');
  assert.equal(await text(socket), 'to the end');
  await stopped;
});

test('a router that stops waits for an open tunnel for its drain time and then closes it', {
  timeout: 20_000,
}, async (t) => {
  const target = await startRawTarget(t, (socket) => socket.resume());
  const hosts = { 'shop.example': target.address };
  // Without the drain time, the tunnel would be open until it has been idle for ten minutes.
  const config = { ADSWEEP_DRAIN_SECONDS: 0.2, ADSWEEP_GATEWAY_IDLE_SECONDS: 600 };
  const router = await startTestRouter(t, { hosts, config });
  const { socket } = await openTunnel(await router.ticket(), 'shop.example:443');
  const closed = once(socket.resume(), 'close');
  const began = performance.now();
  await router.stop();
  await closed;
  const waitedMs = performance.now() - began;
  assert.ok(waitedMs >= 190, `closed after ${waitedMs} ms`);
});
