import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { slow } from '../../shared/test/support/slow.ts';
import { until } from '../../shared/test/support/until.ts';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import { ActiveTicket } from '../src/tickets/active-ticket.ts';
import { signTicket, VerifiedTickets } from '../src/tickets/ticket.ts';
import { openTunnel, proxyAuthorization, request, requestOver, sendRaw, tunnelStatus } from './support/proxy-client.ts';
import { startTestRouter, TICKET_SECRET } from './support/router.ts';
import { startRawTarget, startTarget } from './support/target.ts';

const hosts = (address: string) => ({ 'shop.example': address });
const url = 'http://shop.example/';

function forged(ticket: ExitTicket, change: object, secret = TICKET_SECRET): ExitTicket {
  const claims = JSON.parse(Buffer.from(ticket.username, 'base64url').toString());
  return { ...ticket, ...signTicket({ ...claims, ...change }, secret) };
}

test('a request without a valid ticket is answered 407 and reaches nobody', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const ticket = await router.ticket();
  const bad: Record<string, ExitTicket> = {
    'another signature': { ...ticket, password: `${ticket.password.slice(1)}A` },
    'no signature': { ...ticket, password: '' },
    'another secret': forged(ticket, {}, 'a secret that is not ours'),
    'claims changed after signing': { ...forged(ticket, { exit: 'direct-gb' }), password: ticket.password },
    expired: forged(ticket, { expires: Date.now() - 1 }),
    'no claims': { ...ticket, ...signTicket({} as never, TICKET_SECRET) },
    nothing: { ...ticket, username: '', password: '' },
  };
  for (const [what, credentials] of Object.entries(bad)) {
    assert.equal((await request(credentials, url)).status, 407, what);
    assert.equal(await tunnelStatus(credentials, 'shop.example:443'), 407, what);
  }
  assert.match(await sendRaw(ticket, `GET ${url} HTTP/1.1\r\nHost: shop.example\r\n\r\n`), /^HTTP\/1.1 407/);
  assert.equal(target.seen.length, 0);
  assert.equal((await request(ticket, url)).status, 200, 'the ticket itself is valid');
});

test('a ticket that was verified is still refused with another signature, and once it has expired', () => {
  const claims = { id: 'one', exit: 'direct-us', session: 's', scan: 'scan', expires: 2_000 };
  const ticket = signTicket(claims, TICKET_SECRET);
  const verified = new VerifiedTickets(TICKET_SECRET);
  for (const now of [1_000, 1_999]) assert.deepEqual(verified.verify(ticket, now), claims);
  assert.equal(verified.verify({ ...ticket, password: `${ticket.password.slice(1)}A` }, 1_000), null);
  assert.equal(verified.verify({ ...ticket, password: '' }, 1_000), null);
  for (const now of [2_000, 2_001]) assert.equal(verified.verify(ticket, now), null);
});

test('credentials never reach a target', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  await request(await router.ticket(), url, {
    headers: { 'Proxy-Connection': 'keep-alive', Connection: 'x-hop', 'X-Hop': '1' },
  });
  const names = Object.keys(target.seen[0]?.headers ?? {});
  assert.deepEqual(
    names.filter((name) => name.startsWith('proxy-') || name === 'x-hop'),
    [],
  );
});

test('a restarted router takes tickets that were signed before', async (t) => {
  const target = await startTarget(t);
  const first = await startTestRouter(t, { hosts: hosts(target.address) });
  const ticket = await first.ticket();
  await first.stop();
  const second = await startTestRouter(t, { hosts: hosts(target.address) });
  const moved = { ...ticket, server: `http://127.0.0.1:${second.ports.gateway}` };
  assert.equal((await request(moved, url)).status, 200);
  assert.equal((await second.traffic(ticket)).requests.length, 1);
});

test('each request on a kept connection stands on its own ticket', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const [one, other] = [await router.ticket(), await router.ticket()];
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  await request(one, url, { agent });
  await request(other, url, { agent });
  await request(other, url, { agent });
  assert.equal((await request({ ...one, password: 'forged' }, url, { agent })).status, 407);
  assert.equal((await router.traffic(one)).requests.length, 1);
  assert.equal((await router.traffic(other)).requests.length, 2);
  assert.equal(target.seen.length, 3);
});

test('when a ticket expires its connections are closed', slow, async (t) => {
  const target = await startRawTarget(t, (socket) => socket.write('hello'));
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const ticket = await router.ticket({ ttl_seconds: 1 });
  const { status, socket } = await openTunnel(ticket, 'shop.example:443');
  assert.equal(status, 200);
  socket.resume();
  await until('all connections to be closed', () => socket.destroyed && target.connections.size === 0);
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 407);
});

test('a deleted ticket has no open connection and no traffic', async (t) => {
  const target = await startRawTarget(t, () => {});
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const ticket = await router.ticket();
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  socket.resume();
  assert.equal((await router.call('DELETE', `/exits/${ticket.ticket_id}`)).status, 204);
  await until('all connections to be closed', () => socket.destroyed && target.connections.size === 0);
  assert.equal((await router.call('GET', `/exits/${ticket.ticket_id}/traffic`)).status, 404);
});

test('a ticket cannot transfer more bytes than its limit, down or up', async (t) => {
  const endless = await startTarget(t, (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(16_384))) {}
    };
    response.on('drain', more);
    more();
  });
  const sink = await startRawTarget(t, (socket) => socket.resume());
  const router = await startTestRouter(t, {
    hosts: { 'endless.example': endless.address, 'sink.example': sink.address },
    config: { ADSWEEP_TICKET_BYTES_MAX: 1_000_000 },
  });
  const down = await router.ticket();
  await assert.rejects(request(down, 'http://endless.example/'));
  const tunnelled = await router.ticket();
  const { socket } = await openTunnel(tunnelled, 'endless.example:80');
  await requestOver(socket, 'endless.example');
  const up = await router.ticket();
  const upload = request(up, 'http://sink.example/', { method: 'POST', body: 'x'.repeat(3_000_000) });
  assert.equal((await upload.catch(() => ({ status: 590 }))).status, 590);

  for (const ticket of [down, tunnelled, up]) {
    const { bytes_sent, bytes_received, hosts } = await router.traffic(ticket);
    const bytes = bytes_sent + bytes_received;
    assert.ok(bytes > 1_000_000 && bytes < 2_500_000, `${bytes} bytes`);
    assert.equal(hosts[0]?.outcome, 'too_large');
    assert.equal((await request(ticket, 'http://endless.example/')).status, 590);
    assert.equal(await tunnelStatus(ticket, 'endless.example:443'), 590);
  }
  await until('all connections to be closed', () => endless.connections.size === 0 && sink.connections.size === 0);
});

test('a ticket that asked for fewer bytes than the router allows has that many, and none has more than the router allows', async (t) => {
  const large = await startTarget(t, (_, response) => response.end(Buffer.alloc(300_000)));
  const router = await startTestRouter(t, {
    hosts: { 'large.example': large.address },
    config: { ADSWEEP_TICKET_BYTES_MAX: 1_000_000 },
  });
  const answersOf = async (bytes_max: number) => {
    const ticket = await router.ticket({ bytes_max });
    const fetched = async () => (await request(ticket, 'http://large.example/').catch(() => ({ status: 0 }))).status;
    let answers = 0;
    while (answers < 10 && (await fetched()) === 200) answers += 1;
    return answers;
  };
  assert.deepEqual([await answersOf(500_000), await answersOf(9_000_000)], [1, 3]);
  await assert.rejects(router.ticket({ bytes_max: 0 }), /answered 422/);
});

test('hundreds of requests of one ticket over a few connections are forwarded and recorded', async (t) => {
  const target = await startTarget(t, (_, response) => response.end());
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const ticket = await router.ticket({ ttl_seconds: 600 });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  t.after(() => agent.destroy());
  const paths = Array.from({ length: 400 }, (_, index) => `${url}${index}`);
  const answers = await Promise.all(paths.map((path) => request(ticket, path, { agent })));
  assert.ok(answers.every(({ status }) => status === 200));
  const { requests, hosts: reached } = await router.traffic(ticket);
  assert.deepEqual(requests.map((one) => one.url).toSorted(), paths.toSorted());
  assert.equal(reached.length, 1);
  assert.equal(reached[0]?.connections, 400);
  assert.equal(target.seen.length, 400);
});

test('of a ticket the first 5000 requests and hosts are recorded; those after them are served all the same', () => {
  const claims = { id: 'one', exit: 'direct-us', session: 's', scan: 'scan', expires: 2_000 };
  const ticket = new ActiveTicket(claims, 1_000_000);
  for (let n = 0; n < 5_100; n += 1) {
    ticket.recordRequest('GET', `${url}${n}`, n);
    ticket.recordConnection({ host: `host-${n}.example`, port: 80 }, '192.0.2.1', 'ok');
    ticket.recordConnection({ host: 'host-0.example', port: 80 }, '192.0.2.1', 'ok');
  }
  assert.equal(ticket.isClosed, false);
  const { requests, hosts: reached } = ticket.traffic();
  assert.deepEqual([requests.length, requests.at(-1)?.url], [5_000, `${url}4999`]);
  assert.deepEqual([reached.length, reached[0]?.connections], [5_000, 5_101]);
});

test('a ticket’s traffic is up to date while a tunnel is open', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.on('data', () => socket.write('x'.repeat(1_000))));
  const page = await startTarget(t);
  const router = await startTestRouter(t, { hosts: { 'raw.example': target.address, 'shop.example': page.address } });
  const ticket = await router.ticket();
  const began = Date.now();
  await request(ticket, 'http://user:secret@shop.example/a?b=c', { headers: { Host: 'shop.example' } });
  const { socket } = await openTunnel(ticket, 'raw.example:443');
  const before = await router.traffic(ticket);
  socket.write('ping');
  await new Promise((resolve) => socket.once('data', resolve));
  const after = await router.traffic(ticket);
  socket.destroy();
  assert.equal(after.bytes_sent - before.bytes_sent, 4);
  assert.equal(after.bytes_received - before.bytes_received, 1_000);
  assert.deepEqual(
    after.requests.map(({ method, url }) => [method, url]),
    [
      ['GET', 'http://shop.example/a?b=c'],
      ['CONNECT', 'https://raw.example:443/'],
    ],
  );
  assert.ok(after.requests.every(({ at_ms }) => at_ms >= began && at_ms <= Date.now()));
  assert.deepEqual(after.hosts, [
    { host: 'shop.example', port: 80, address: '127.0.0.1', outcome: 'ok', connections: 1 },
    { host: 'raw.example', port: 443, address: '127.0.0.1', outcome: 'ok', connections: 1 },
  ]);
});

test('a connection serves one request: one that is pipelined behind it reaches no target', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: hosts(target.address) });
  const [one, other] = [await router.ticket(), await router.ticket()];
  const line = (ticket: ExitTicket, end = '') =>
    `GET ${url} HTTP/1.1\r\nHost: shop.example\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n${end}\r\n`;
  const answers = await sendRaw(one, line(one) + line(other, 'Connection: close\r\n'));
  assert.equal(answers.match(/HTTP\/1.1 /g)?.length, 1);
  assert.equal((await router.traffic(one)).requests.length, 1);
  assert.equal(target.seen.length, 1);
});

test('traffic tells which streams are open, which still connect, and how long nothing has moved', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.pipe(socket));
  const dialled = Promise.withResolvers<void>();
  const provider = {
    resolvesNames: true,
    dial: async () => {
      await dialled.promise;
      throw new ConnectionFailure('connection_failed', 'unreachable');
    },
  };
  const router = await startTestRouter(t, { hosts: hosts(target.address), provider });
  const ticket = await router.ticket();
  const streams = async () => {
    const { open_streams, connecting_streams } = await router.traffic(ticket);
    return { open_streams, connecting_streams };
  };
  const quiet = async () => (await router.traffic(ticket)).quiet_ms;
  assert.equal(await quiet(), Number.MAX_SAFE_INTEGER, 'nothing ever happened');

  const { socket } = await openTunnel(ticket, 'shop.example:443');
  assert.deepEqual(await streams(), { open_streams: 1, connecting_streams: 0 });
  await until('a while of quiet', async () => (await quiet()) >= 100);
  socket.write('ping');
  await until('the bytes to count', async () => (await quiet()) < 100);

  const refused = request(ticket, 'http://slow.example/');
  await until('the second stream', async () => (await streams()).connecting_streams === 1);
  assert.deepEqual(await streams(), { open_streams: 2, connecting_streams: 1 });
  await until('a while of quiet', async () => (await quiet()) >= 100);
  dialled.resolve();
  assert.equal((await refused).status, 595);
  assert.ok((await quiet()) < 100_000);
  assert.deepEqual(await streams(), { open_streams: 1, connecting_streams: 0 });

  await until('a while of quiet', async () => (await quiet()) >= 100);
  socket.destroy();
  await until('the tunnel to end', async () => (await streams()).open_streams === 0);
});
