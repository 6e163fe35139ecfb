import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import tls from 'node:tls';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { freePort } from '../../shared/test/support/free-port.ts';
import { until } from '../../shared/test/support/until.ts';
import { openTunnel, request, requestOver, tunnelStatus } from './support/proxy-client.ts';
import { exitIn, startTestRouter } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startSocksServer } from './support/socks-server.ts';
import { startRawTarget, startTarget } from './support/target.ts';

const listed = (upstream: string, more = {}) => exitIn('US', { provider: 'list', upstream, ...more });

/** A router with one listed exit, and a target that the exit's upstream knows as `shop.example`. */
async function routerThrough(t: TestContext, upstream: (address: string) => string) {
  const target = await startTarget(t);
  const vendor = await startVendor(t);
  vendor.hosts['shop.example'] = target.address;
  const router = await startTestRouter(t, { exits: [listed(upstream(vendor.address))] });
  return { target, vendor, router, ticket: await router.ticket() };
}
const good = (address: string) => `http://cust-42-cc-us:secret@${address}`;

test('plain http, a tunnel and keep-alive pass an upstream http proxy, which gets the name as it is', async (t) => {
  const { target, vendor, router, ticket } = await routerThrough(t, good);
  const answer = await request(ticket, 'http://shop.example/page');
  assert.deepEqual([answer.status, answer.body], [200, 'a page']);
  const { status, socket } = await openTunnel(ticket, 'shop.example:443');
  assert.equal(status, 200);
  assert.match(await requestOver(socket, 'shop.example'), /a page$/);
  assert.deepEqual(
    vendor.asked.map(({ authority }) => authority),
    ['shop.example:80', 'shop.example:443'],
  );
  assert.equal(target.seen[0]?.headers.host, 'shop.example');
  assert.equal(target.seen[0]?.headers['proxy-authorization'], undefined);
  const { hosts, bytes_received } = await router.traffic(ticket);
  assert.deepEqual(
    hosts.map(({ host, port, address, outcome }) => [host, port, address, outcome]),
    [
      ['shop.example', 80, null, 'ok'],
      ['shop.example', 443, null, 'ok'],
    ],
  );
  assert.ok(bytes_received > 0);
});

test('the bytes of a ticket are those of the target, without what was said to the upstream', async (t) => {
  const { router, ticket } = await routerThrough(t, good);
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  assert.deepEqual(pick(await router.traffic(ticket)), { bytes_sent: 0, bytes_received: 0 });
  socket.destroy();
});
const pick = ({ bytes_sent, bytes_received }: TicketTraffic) => ({ bytes_sent, bytes_received });

test('`hosts` of the exits file is for our own dialling alone', async (t) => {
  const target = await startTarget(t);
  const other = await startTarget(t, (_, response) => response.end('the wrong page'));
  const vendor = await startVendor(t);
  vendor.hosts['shop.example'] = target.address;
  const router = await startTestRouter(t, {
    exits: [listed(good(vendor.address))],
    hosts: { 'shop.example': other.address },
  });
  assert.equal((await request(await router.ticket(), 'http://shop.example/')).body, 'a page');
});

test('private addresses and local names leave by no upstream', async (t) => {
  const { vendor, ticket } = await routerThrough(t, good);
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.1', 'metadata.google.internal', '[::1]', '2130706433'])
    assert.equal(await tunnelStatus(ticket, `${host}:80`), 591, host);
  assert.deepEqual(vendor.asked, []);
});

test('an upstream may be reached over TLS, with a certificate that is trusted', async (t) => {
  const target = await startTarget(t);
  const vendor = await startVendor(t, { isSecure: true });
  vendor.hosts['shop.example'] = target.address;
  const upstream = `https://cust-42-cc-us:secret@localhost:${vendor.address.split(':')[1]}`;
  const trusted = tls.getCACertificates('default');
  const untrusting = await startTestRouter(t, { exits: [listed(upstream)] });
  assert.equal((await request(await untrusting.ticket(), 'http://shop.example/')).status, 599);
  t.after(() => tls.setDefaultCACertificates(trusted));
  tls.setDefaultCACertificates([...trusted, vendor.certificate]);
  const router = await startTestRouter(t, { exits: [listed(upstream)] });
  const ticket = await router.ticket();
  assert.equal((await request(ticket, 'http://shop.example/')).body, 'a page');
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  const before = await router.traffic(ticket);
  const answer = await requestOver(socket, 'shop.example');
  assert.match(answer, /a page$/);
  const after = await router.traffic(ticket);
  assert.deepEqual(
    [after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received],
    ['GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n'.length, answer.length],
    'the bytes of the target, without those of TLS',
  );
});

test('a SOCKS5 upstream gets the name as it is, and its refusals are told apart', async (t) => {
  const target = await startTarget(t);
  const socks = await startSocksServer(t);
  socks.hosts['shop.example'] = target.address;
  const statusFor = async (upstream: string) => {
    const router = await startTestRouter(t, { exits: [listed(upstream)] });
    const ticket = await router.ticket();
    const { status, body } = await request(ticket, 'http://shop.example/');
    return status === 200 ? body : status;
  };
  assert.equal(await statusFor(`socks5://user:pass@${socks.address}`), 'a page');
  assert.deepEqual(socks.asked, ['shop.example:80']);
  assert.equal(await statusFor(`socks5://user:wrong@${socks.address}`), 592);
  for (const [reply, status] of [
    [1, 599],
    [2, 592],
    [4, 595],
    [5, 594],
    [6, 598],
  ] as const) {
    socks.reply = reply;
    assert.equal(await statusFor(`socks5://user:pass@${socks.address}`), status, `reply ${reply}`);
  }
});

test('what an upstream answers is told to the node by class', async (t) => {
  const { vendor } = await routerThrough(t, good);
  const cases: [answer: { status: number; text?: string; headers?: Record<string, string> }, outcome: string][] = [
    [{ status: 401 }, 'account_refused'],
    [{ status: 402 }, 'account_refused'],
    [{ status: 403 }, 'account_refused'],
    [{ status: 407 }, 'account_refused'],
    [{ status: 404 }, 'no_exit'],
    [{ status: 502, text: 'No peers found for this location' }, 'no_exit'],
    [{ status: 429 }, 'rate_limited'],
    [{ status: 503, headers: { 'X-Error': 'too many requests' } }, 'rate_limited'],
    [{ status: 500 }, 'upstream_failed'],
    [{ status: 503 }, 'upstream_failed'],
    [{ status: 400 }, 'upstream_failed'],
    [{ status: 502, headers: { 'Proxy-Status': 'exit; error=dns_error' } }, 'dns'],
    [{ status: 502, headers: { 'Proxy-Status': 'exit; error=connection_refused' } }, 'connection_refused'],
    [{ status: 593 }, 'dns'],
    [{ status: 503, headers: { 'X-Squid-Error': 'ERR_DNS_FAIL 0' } }, 'dns'],
    [{ status: 503, headers: { 'X-Squid-Error': 'ERR_CONNECT_FAIL 111' } }, 'connection_refused'],
    [{ status: 503, headers: { 'X-Squid-Error': 'ERR_CONNECT_FAIL 110' } }, 'timeout'],
    [{ status: 503, headers: { 'X-Squid-Error': 'ERR_CONNECT_FAIL 113' } }, 'connection_failed'],
  ];
  for (const [answer, outcome] of cases) {
    vendor.behavior = answer;
    const router = await startTestRouter(t, { exits: [listed(good(vendor.address))] });
    const ticket = await router.ticket();
    const { headers } = await request(ticket, 'http://shop.example/');
    assert.equal(headers[GATEWAY_OUTCOME_HEADER], outcome, JSON.stringify(answer));
    const tunnel = await openTunnel(await router.ticket().catch(() => ticket), 'shop.example:443');
    tunnel.socket.destroy();
    assert.equal(tunnel.headers[GATEWAY_OUTCOME_HEADER], outcome, `${JSON.stringify(answer)} to a tunnel`);
    await router.stop();
  }
});

test('a target that an upstream refuses without a reason, or on which it hangs or closes, takes the exit from no other scan', async (t) => {
  const target = await startTarget(t);
  const vendor = await startVendor(t);
  Object.assign(vendor, { spared: 'shop.example', hosts: { 'shop.example': target.address } });
  const text = 'http://account-suspended.example/ was not retrieved';
  const config = { ADSWEEP_CONNECT_TIMEOUT_SECONDS: 0.3 };
  const behaviors = [{ status: 403, text }, { status: 503, text }, 'dies', 'hangs'] as const;
  for (const behavior of behaviors) {
    vendor.behavior = behavior;
    const router = await startTestRouter(t, { exits: [listed(good(vendor.address))], config });
    const ticket = await router.ticket();
    const urls = [80, 81, 82].map((port) => `http://account-suspended.example:${port}/`);
    for (const { status } of await Promise.all(urls.map((url) => request(ticket, url)))) assert.ok(status >= 592);
    const other = await router.ticket({ session: 'other', scan_id: 'other' });
    assert.equal((await request(other, 'http://shop.example/')).status, 200);
  }
  assert.equal(target.seen.length, behaviors.length);
});

test('a SOCKS5 upstream that hangs or closes on the target of one scan is there for the next one', async (t) => {
  const config = { ADSWEEP_CONNECT_TIMEOUT_SECONDS: 0.3 };
  for (const ends of [false, true]) {
    const socks = await startRawTarget(t, (socket) =>
      socket.once('data', () => {
        socket.write('\x05\x00');
        socket.once('data', () => ends && socket.end());
      }),
    );
    const router = await startTestRouter(t, { exits: [listed(`socks5://user:pass@${socks.address}`)], config });
    assert.equal(await tunnelStatus(await router.ticket(), 'shop.example:443'), 599);
    await router.ticket({ session: 'other', scan_id: 'other' });
  }
});

test('an upstream that is not there, that dies or hangs is upstream_failed', async (t) => {
  const { vendor } = await routerThrough(t, good);
  const config = { ADSWEEP_CONNECT_TIMEOUT_SECONDS: 0.3 };
  for (const behavior of ['dies', 'hangs'] as const) {
    vendor.behavior = behavior;
    const router = await startTestRouter(t, { exits: [listed(good(vendor.address))], config });
    assert.equal(await tunnelStatus(await router.ticket(), 'shop.example:443'), 599, behavior);
  }
  const router = await startTestRouter(t, { exits: [listed(good(`127.0.0.1:${await freePort()}`))] });
  assert.equal(await tunnelStatus(await router.ticket(), 'shop.example:443'), 599);
});

test('an upstream that stops in the middle of a body leaves the answer cut off, not whole', async (t) => {
  const target = await startTarget(t, (_, response) => response.end('a long page'.repeat(9)));
  const vendor = await startVendor(t);
  Object.assign(vendor, { behavior: 'hangs_in_body', hosts: { 'shop.example': target.address } });
  const config = { ADSWEEP_GATEWAY_IDLE_SECONDS: 1 };
  const router = await startTestRouter(t, { exits: [listed(good(vendor.address))], config });
  await assert.rejects(request(await router.ticket(), 'http://shop.example/'), /aborted|hang up/);
});

test('a wrong password of an upstream is told to whoever asks next: 403 ACCOUNT_REFUSED', async (t) => {
  const { router, ticket } = await routerThrough(t, (address) => `http://cust-42-cc-us:wrong@${address}`);
  assert.equal((await request(ticket, 'http://shop.example/')).status, 592);
  const answer = await router.call('POST', '/exits', {
    targeting: { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' },
    session: 'other',
    scan_id: 'scan',
    ttl_seconds: 60,
  });
  assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [403, 'ACCOUNT_REFUSED']);
});

test('with one dead exit in three, every session has a good exit after one failure at the most', async (t) => {
  const target = await startTarget(t);
  const vendor = await startVendor(t);
  vendor.hosts['shop.example'] = target.address;
  const dead = `http://x:y@127.0.0.1:${await freePort()}`;
  const exits = [dead, good(vendor.address), good(vendor.address)].map((upstream, index) =>
    listed(upstream, { id: `exit-${index}` }),
  );
  const router = await startTestRouter(t, { exits });
  let failures = 0;
  for (let index = 0; index < 30; index += 1) {
    const { status } = await request(await router.ticket({ session: `session${index}` }), 'http://shop.example/');
    if (status !== 200) failures += 1;
  }
  assert.equal(failures, 1);
});

test('tickets that are asked for at once are no more than an exit may have, also while it is checked', async (t) => {
  const { vendor } = await routerThrough(t, good);
  const service = await startTarget(t, (_, response) => response.end('{ "ip": "203.0.113.7", "country_code": "US" }'));
  vendor.hosts['check.example'] = service.address;
  const exits = [listed(good(vendor.address), { tickets_max: 2 })];
  const config = { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' };
  const router = await startTestRouter(t, { exits, config });
  const asked = ['a', 'b', 'c', 'd'].map((session) => router.ticket({ session }));
  const issued = (await Promise.all(asked.map((one) => one.catch(() => null)))).filter((one) => one !== null);
  assert.equal(issued.length, 2);
  await router.call('DELETE', `/exits/${issued[0]?.ticket_id}`);
  vendor.behavior = { status: 429, headers: { 'Retry-After': '0.01' } };
  await assert.rejects(router.ticket({ session: 'e' }), /503.*NODE_BUSY/);
  vendor.behavior = 'works';
  await until('the exit that failed its check to be free', () => router.ticket({ session: 'f' }).catch(() => null));
});

test('an exit that fails is unavailable for no longer when the clock of the machine is set back meanwhile', async (t) => {
  const target = await startTarget(t);
  const { vendor } = await routerThrough(t, good);
  vendor.hosts['shop.example'] = target.address;
  const router = await startTestRouter(t, { exits: [listed(good(vendor.address))] });
  const ticket = await router.ticket();
  vendor.behavior = { status: 429, headers: { 'Retry-After': '0.3' } };
  assert.equal((await request(ticket, 'http://shop.example/')).status, 597);
  await assert.rejects(router.ticket(), /503.*NODE_BUSY/);
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() - 3_600_000);
  await until('the exit to be available', () => router.ticket().catch(() => null));
});

test('a ticket for a node that gave up while its exit was checked is not in use', async (t) => {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const service = await startTarget(t, (_, response) => {
    asked.resolve();
    void answered.promise.then(() => response.end('{ "ip": "203.0.113.7", "country_code": "US" }'));
  });
  const { vendor } = await routerThrough(t, good);
  vendor.hosts['check.example'] = service.address;
  const router = await startTestRouter(t, {
    exits: [listed(good(vendor.address), { tickets_max: 1 })],
    config: { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' },
  });
  const node = new AbortController();
  const request = router.ticket({ session: 'a' }, node.signal);
  await asked.promise;
  node.abort();
  await assert.rejects(request, { name: 'AbortError' });
  // The router takes this after the end of that connection.
  await router.call('GET', '/catalogue/times');
  answered.resolve();
  await until('the exit to be free', () => router.ticket({ session: 'b' }).catch(() => null));
});

test('an exit has no more tickets in use than it may; one that is deleted makes room', async (t) => {
  const { vendor } = await routerThrough(t, good);
  const router = await startTestRouter(t, { exits: [listed(good(vendor.address), { tickets_max: 2 })] });
  const [first] = [await router.ticket({ session: 'a' }), await router.ticket({ session: 'b' })];
  await assert.rejects(router.ticket({ session: 'c' }), /503.*NODE_BUSY/);
  await router.call('DELETE', `/exits/${first?.ticket_id}`);
  await router.ticket({ session: 'c' });
});

test('nobody sends mail through an exit', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: { '*.example': target.address } });
  const ticket = await router.ticket();
  for (const port of [25, 465, 587]) {
    assert.equal(await tunnelStatus(ticket, `mail.example:${port}`), 591);
    assert.equal((await request(ticket, `http://mail.example:${port}/`)).status, 591);
  }
  assert.equal(await tunnelStatus(ticket, 'mail.example:2525'), 200);
});

test('a host that a ticket denies is refused, and that host alone', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: { '*.example': target.address } });
  const ticket = await router.ticket({ deny_hosts: ['publisher.example'] });
  assert.equal((await request(ticket, 'http://publisher.example/')).status, 591);
  assert.equal(await tunnelStatus(ticket, 'PUBLISHER.example:443'), 591);
  assert.equal((await request(ticket, 'http://cdn.publisher.example/')).status, 200);
  assert.equal((await request(await router.ticket(), 'http://publisher.example/')).status, 200);
});
