import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../shared/test/support/free-port.ts';
import { evidenceOf } from '../src/exits/exit-check.ts';
import { ExitHealth } from '../src/exits/exit-health.ts';
import { exitIn, startTestRouter, temporaryFolder, vendorConfig } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startRawTarget, startTarget } from './support/target.ts';

const seen = { ip: '203.0.113.7', country_code: 'nl', asn: 64500, isp: 'Example Net' };

/** A service that tells where a request came from. */
const startService = (t: TestContext) => startTarget(t, (_, response) => response.end(JSON.stringify(seen)));

test('a new exit session is checked once: its address, country, network and provider are on the ticket', async (t) => {
  const service = await startService(t);
  const vendor = await startVendor(t);
  vendor.hosts['check.example'] = service.address;
  const upstream = `http://cust-42-cc-us:secret@${vendor.address}`;
  const router = await startTestRouter(t, {
    exits: [exitIn('US', { provider: 'list', upstream })],
    config: { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/me?full' },
  });
  const { exit } = await router.ticket();
  assert.deepEqual(
    [exit.country_code, exit.ip, exit.observed_country_code, exit.asn, exit.isp],
    ['US', '203.0.113.7', 'NL', 'AS64500', 'Example Net'],
  );
  await router.ticket();
  assert.deepEqual(
    [service.seen.length, service.seen[0]?.url, service.seen[0]?.headers.host],
    [1, '/me?full', 'check.example'],
  );
  assert.equal((await router.ticket({ session: 'other' })).exit.ip, '203.0.113.7');
  assert.equal(service.seen.length, 2);
});

test('the service may stand at a private address, also for exits of this machine', async (t) => {
  const service = await startService(t);
  const config = { ADSWEEP_EXIT_CHECK_URL: `http://${service.address}/` };
  const router = await startTestRouter(t, { config });
  assert.equal((await router.ticket()).exit.observed_country_code, 'NL');
});

test('a service that is away or says something else leaves everything unknown, and the exit is not verified', async (t) => {
  const broken = await startTarget(t, (_, response) => response.end('<html>'));
  for (const address of [`127.0.0.1:${await freePort()}`, broken.address]) {
    const router = await startTestRouter(t, { config: { ADSWEEP_EXIT_CHECK_URL: `http://${address}/` } });
    const { verified, ip, observed_country_code, asn } = (await router.ticket()).exit;
    assert.deepEqual([verified, ip, observed_country_code, asn], [false, null, null, null]);
  }
});

test('an exit that is found dead or refused when it is checked is passed over', async (t) => {
  const service = await startService(t);
  const vendor = await startVendor(t);
  vendor.hosts['check.example'] = service.address;
  const dead = `http://x:y@127.0.0.1:${await freePort()}`;
  const refused = `http://cust-42-cc-us:wrong@${vendor.address}`;
  const good = `http://cust-42-cc-us:secret@${vendor.address}`;
  const config = { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' };
  const exits = [dead, refused, good].map((upstream, index) =>
    exitIn('US', { id: `exit-${index}`, provider: 'list', upstream }),
  );
  const router = await startTestRouter(t, { exits, config });
  for (const session of ['a', 'b', 'c', 'd']) assert.equal((await router.ticket({ session })).exit.exit_id, 'exit-2');
  const alone = await startTestRouter(t, { exits: exits.slice(1, 2), config });
  await assert.rejects(alone.ticket(), /403.*ACCOUNT_REFUSED/);
  const metrics = await (await alone.call('GET', '/metrics')).text();
  assert.match(metrics, /adsweep_exit_checks_total\{[^}]*provider="list",outcome="failed"[^}]*\} 1/);
  assert.match(metrics, /adsweep_provider_failures_total\{[^}]*provider="list",outcome="account_refused"[^}]*\} 1/);
});

test('a vendor that has no such place says so when the exit is checked: 404 NODE_NOT_FOUND', async (t) => {
  const vendor = await startVendor(t, { inventory: { de: [] } });
  const catalogue = join(temporaryFolder(), 'places.json');
  writeFileSync(
    catalogue,
    JSON.stringify({ places: [{ country_code: 'US', proxy_type: 'residential', pool_size: 9 }] }),
  );
  const router = await startTestRouter(t, {
    providers: [vendorConfig({ endpoint: `http://${vendor.address}`, catalogue })],
    config: { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' },
  });
  await assert.rejects(router.ticket(), /404.*NODE_NOT_FOUND/);
});

test('an answer of the service is read with care', () => {
  assert.deepEqual(evidenceOf(JSON.stringify(seen)), {
    verified: true,
    ip: '203.0.113.7',
    observed_country_code: 'NL',
    asn: 'AS64500',
    isp: 'Example Net',
  });
  assert.equal(evidenceOf(JSON.stringify({ ...seen, asn: 'AS1 Some Net' }))?.asn, 'AS1 Some Net');
  assert.equal(evidenceOf(JSON.stringify({ ...seen, asn: null }))?.asn, null);
  for (const wrong of ['', 'null', '{}', JSON.stringify({ ...seen, country_code: 'Netherlands' })])
    assert.equal(evidenceOf(wrong), null, wrong);
});

test('a service that the exit cannot reach leaves everything unknown, and is no fault of the exit', async (t) => {
  const vendor = await startVendor(t);
  const upstream = `http://cust-42-cc-us:secret@${vendor.address}`;
  for (const answer of [
    { status: 502, text: 'could not resolve the host' },
    { status: 594 },
    { status: 504, headers: { 'Proxy-Status': 'exit; error=connection_timeout' } },
  ]) {
    vendor.behavior = answer;
    const router = await startTestRouter(t, {
      exits: [exitIn('US', { provider: 'list', upstream })],
      config: { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' },
    });
    assert.equal((await router.ticket()).exit.ip, null, JSON.stringify(answer));
  }
});

test('an endless answer of a vendor is read to its limit, and its exit is used without being verified', async (t) => {
  let sent = 0;
  const endless = await startRawTarget(t, (socket) => {
    const chunk = Buffer.alloc(65_536, 'a');
    const send = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('drain', send);
      send();
    });
  });
  const vendor = await startVendor(t);
  vendor.hosts['check.example'] = endless.address;
  const upstream = `http://cust-42-cc-us:secret@${vendor.address}`;
  const router = await startTestRouter(t, {
    exits: [exitIn('US', { provider: 'list', upstream })],
    config: { ADSWEEP_EXIT_CHECK_URL: 'http://check.example/' },
  });
  assert.equal((await router.ticket()).exit.verified, false);
  // What the sockets between them hold is sent too.
  assert.ok(sent < 30_000_000, `${sent} bytes were sent`);
  assert.match(
    await (await router.call('GET', '/metrics')).text(),
    /adsweep_exit_checks_total\{[^}]*provider="list",outcome="garbled"[^}]*\} 1/,
  );
});

test('a check that a vendor garbles halves its share until one succeeds', () => {
  const health = new ExitHealth();
  const [one, other] = [
    { id: 'account/us', account: 'account' },
    { id: 'account/de', account: 'account' },
  ];
  health.distrusted(one);
  health.distrusted(other);
  assert.deepEqual([health.score(one), health.score(other), health.score({ id: 'us-1' })], [0.25, 0.25, 1]);
  for (let at = 0; at < 20; at++) health.distrusted(one);
  assert.equal(health.score(one), 1 / 16);
  assert.equal(health.state(one, Date.now()), 'available');
  health.verified(other);
  assert.equal(health.score(one), 1);
});
