import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../shared/test/support/free-port.ts';
import { until } from '../../shared/test/support/until.ts';
import { newTicketId, signTicket } from '../src/tickets/ticket.ts';
import { openTunnel, proxyAuthorization, request, sendRaw, tunnelStatus } from './support/proxy-client.ts';
import { startTestRouter, TICKET_SECRET } from './support/router.ts';
import { startRawTarget, startTarget } from './support/target.ts';

/** A router to a target that answers with the body it got, and a ticket. */
async function routerToEcho(t: TestContext, config = {}) {
  const target = await startTarget(t, async (incoming, response) => response.end(await text(incoming).catch(() => '')));
  const router = await startTestRouter(t, { hosts: { 'shop.example': target.address }, config });
  const ticket = await router.ticket();
  const send = (head: string, rest = '') =>
    sendRaw(ticket, `${head}\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n${rest}`);
  return { target, router, ticket, send };
}

test('a CONNECT names a host and a port and nothing else, or is answered 400', async (t) => {
  const { target, router, ticket, send } = await routerToEcho(t);
  for (const authority of [
    ...['shop.example', 'shop.example:', ':443', ':', '/', '*', 'http://shop.example:443', '//shop.example:443'],
    ...[
      'shop.example:443/',
      'shop.example:443/admin',
      'shop.example:443?x',
      'shop.example:443#x',
      'shop.example:443:443',
    ],
    ...['user@shop.example:443', 'user:pass@shop.example:443', 'other.example:443@shop.example:443'],
    ...['shop.example:99999', 'shop.example:-1', 'shop.example:0x1bb', 'shop.example:443,80', 'shop.example:443 x'],
    ...['[::1', '[::1]x:443', '::1:443', 'shop..example:443', '.:443', 'xn--a.example:443', 'shop%20.example:443'],
  ])
    assert.match(await send(`CONNECT ${authority} HTTP/1.1\r\nHost: x`, '\r\n'), /^HTTP\/1\.1 400 /, authority);
  assert.equal(target.connections.size, 0);
  assert.deepEqual((await router.traffic(ticket)).hosts, []);
  assert.equal(await tunnelStatus(ticket, 'SHOP.example:443'), 200);
});

test('requests that two parsers could read in two ways are answered 400 and reach nobody', async (t) => {
  const { target, send } = await routerToEcho(t);
  const post = 'POST http://shop.example/ HTTP/1.1\r\nHost: shop.example';
  const smuggled = 'GET http://shop.example/admin HTTP/1.1\r\nHost: shop.example\r\n\r\n';
  for (const headers of [
    'Content-Length: 4\r\nContent-Length: 5',
    'Content-Length: 4, 5',
    'Content-Length: +4',
    'Content-Length: -4',
    'Content-Length: 0x4',
    'Content-Length: 4 4',
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 4',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding: chunked\x00',
    'X: a\x00b',
    'X: a\rTransfer-Encoding: chunked',
    'X Y: a',
    ': a',
    'no colon',
  ])
    assert.match(await send(`${post}\r\n${headers}`, `\r\n0\r\n\r\n${smuggled}`), /^HTTP\/1\.1 400 /, headers);
  for (const line of [
    'GET http://shop.example/ HTTP/1.1 HTTP/1.1',
    'GET http://shop.example/ http/1.1',
    'GET http://shop.example/ HTTP/3.0',
    'GE\x00T http://shop.example/ HTTP/1.1',
    'PRI * HTTP/2.0',
  ])
    assert.match(await send(`${line}\r\nHost: shop.example`, '\r\n'), /^HTTP\/1\.1 400 /, line);
  assert.match(await send(`${post}\r\nTransfer-Encoding: chunked`, `\r\n0x4\r\nabcd\r\n0\r\n\r\n`), / 400 /);
  assert.deepEqual(
    target.seen.filter(({ url }) => url !== '/'),
    [],
  );
});

test('a body stays a body, whatever Connection lists and however many headers come before its length', async (t) => {
  const { target, send } = await routerToEcho(t);
  const hidden = 'GET /admin HTTP/1.1\r\nHost: shop.example\r\n\r\n';
  const post = 'POST http://shop.example/ HTTP/1.1\r\nHost: shop.example\r\nConnection: close';
  const framed = `Content-Length: ${hidden.length}\r\n\r\n${hidden}`;
  for (const options of ['content-length', 'close, Content-Length', 'transfer-encoding, host'])
    assert.match(
      await send(`${post}\r\nConnection: ${options}`, framed),
      /^HTTP\/1\.1 200 [\s\S]*GET \/admin/,
      options,
    );
  for (let count = 990; count < 1_003; count += 1)
    assert.match(await send(post, `${'x:\r\n'.repeat(count)}${framed}`), / 431 |^HTTP\/1\.1 200 [\s\S]*GET \/admin/);
  assert.deepEqual(
    target.seen.filter(({ url, method }) => url !== '/' || method !== 'POST'),
    [],
  );
});

test('nothing in a URL, and nothing that follows a refusal, becomes another request', async (t) => {
  const { target, router, ticket, send } = await routerToEcho(t);
  const path = '/a%0d%0aX:%20y%0d%0a%0d%0aGET%20/admin';
  assert.equal((await request(ticket, `http://shop.example${path}`)).status, 200);
  assert.equal(target.seen[0]?.url, path);
  const next = `GET http://shop.example/admin HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n\r\n`;
  assert.match(await send('CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: x', `\r\n${next}`), /^HTTP\/1\.1 591 /);
  assert.equal(target.seen.filter(({ url }) => url === '/admin').length, 0);
  assert.deepEqual(
    (await router.traffic(ticket)).requests.map(({ url }) => url),
    [`http://shop.example${path}`, 'https://127.0.0.1:80/'],
  );
});

test('headers that trickle in, and connections that say nothing, are ended', async (t) => {
  const { router, ticket } = await routerToEcho(t, { ADSWEEP_GATEWAY_HEADERS_SECONDS: 0.2 });
  const slow = connect(router.ports.gateway, '127.0.0.1');
  const silent = connect(router.ports.gateway, '127.0.0.1');
  slow.on('error', () => {}).write('GET http://shop.example/ HTTP/1.1\r\n');
  const trickle = setInterval(() => slow.writable && slow.write('X'), 20);
  t.after(() => clearInterval(trickle));
  const [said] = await Promise.all([text(slow).catch(() => 'HTTP/1.1 408'), once(silent.resume(), 'close')]);
  assert.match(said, /^HTTP\/1\.1 408/);
  assert.equal((await request(ticket, 'http://shop.example/')).status, 200);
});

test('one ticket leaves three quarters of the connections to others', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.pipe(socket));
  const hosts = { 'shop.example': target.address };
  const router = await startTestRouter(t, { hosts, config: { ADSWEEP_GATEWAY_CONNECTIONS_MAX: 8 } });
  const [greedy, other] = [await router.ticket(), await router.ticket()];
  const tunnels = [await openTunnel(greedy, 'shop.example:443'), await openTunnel(greedy, 'shop.example:443')];
  assert.deepEqual([await tunnelStatus(greedy, 'shop.example:443'), tunnels.length], [595, 2]);
  assert.equal(await tunnelStatus(other, 'shop.example:443'), 200);
  tunnels[0]?.socket.destroy();
  await until('room for one more', async () => (await tunnelStatus(greedy, 'shop.example:443')) === 200);
  tunnels[1]?.socket.destroy();
});

test('clients that half close or vanish in the middle of anything leave nothing open', async (t) => {
  const { target, router, ticket } = await routerToEcho(t);
  const auth = `Proxy-Authorization: ${proxyAuthorization(ticket)}\r\n`;
  const begun = [
    'GET http://shop.ex',
    `POST http://shop.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n${auth}\r\nhalf`,
    `POST http://shop.example/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${auth}\r\n5\r\nha`,
    `CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`,
    `CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n${auth}\r\nGET / HT`,
  ];
  for (const bytes of begun)
    for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const client = connect(router.ports.gateway, '127.0.0.1');
      client.on('error', () => {}).resume();
      await new Promise((resolve) => client.write(bytes, resolve));
      client[leave]();
      await once(client, 'close');
    }
  await until('no connection to the target', () => target.connections.size === 0);
  await until('no stream', async () => (await router.traffic(ticket)).open_streams === 0);
});

test('a ticket that names this replica by another URL is refused, and not passed on without end', async (t) => {
  const [port, gatewayPort] = [await freePort(), await freePort()];
  const config = { ADSWEEP_PROXY_PORT: port, ADSWEEP_GATEWAY_PORT: gatewayPort };
  const router = await startTestRouter(t, {
    config: { ...config, ADSWEEP_REPLICA_URL: `http://127.0.0.1:${port}` },
  });
  const ticket = await router.ticket();
  const alias = { api: `http://localhost:${port}`, gateway: `http://localhost:${gatewayPort}` };
  const claims = JSON.parse(Buffer.from(ticket.username, 'base64url').toString());
  const id = newTicketId(alias, TICKET_SECRET);
  const moved = { ...ticket, ...signTicket({ ...claims, id }, TICKET_SECRET) };
  assert.equal((await request(moved, 'http://shop.example/')).status, 599);
  assert.equal(await tunnelStatus(moved, 'shop.example:443'), 599);
  assert.equal((await router.call('GET', `/exits/${id}/traffic`)).status, 503);
});
