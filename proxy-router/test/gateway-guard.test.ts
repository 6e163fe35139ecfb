import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import { resolveNames } from '@adsweep/shared/egress/checked-addresses.ts';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { type NameRecords, startNameServer } from '../../shared/test/support/name-server.ts';
import { connectTo } from '../src/providers/connect-to.ts';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import { directProvider } from '../src/providers/direct.ts';
import { openTunnel, request, requestOver, tunnelStatus } from './support/proxy-client.ts';
import { PUBLIC_ADDRESSES, startTestRouter } from './support/router.ts';
import { startTarget } from './support/target.ts';

/** A provider over a made-up name service; what is public is dialled at `address` instead, and written down. */
function providerOver(
  names: Record<string, string[][]>,
  address = '127.0.0.1:9',
  addresses: AddressPolicy = PUBLIC_ADDRESSES,
) {
  const asked: string[] = [];
  const dialled: string[][] = [];
  const provider = directProvider(
    async (name) => {
      asked.push(name);
      const answers = names[name];
      if (!answers) throw new ConnectionFailure('dns', 'no such name');
      return answers.length > 1 ? answers.shift()! : answers[0]!;
    },
    async (addresses, _port, signal) => {
      dialled.push(addresses);
      const [host = '', port] = address.split(':');
      return connectTo([host], Number(port), signal);
    },
    addresses,
  );
  return { provider, asked, dialled };
}

test('a private literal is refused in every spelling, in a tunnel and in a plain request, and nothing is dialled', async (t) => {
  const target = await startTarget(t);
  const port = target.address.split(':')[1];
  const { provider, asked, dialled } = providerOver({});
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const hosts = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '127.0.0.1.']
    .concat(['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::]', '[64:ff9b::7f00:1]', '%31%32%37.0.0.1'])
    .concat([
      'localhost',
      'LOCALHOST',
      'a.localhost',
      'localhost.',
      'router.local',
      'db.internal',
      'metadata',
      'x.home.arpa',
    ])
    // Octal and decimal in full, final dots, and digits and dots of other scripts (UTS 46).
    .concat(['017700000001', '0x7f.0x0.0x0.0x1', '127.0x1', '192.168.257', '2130706433.', '0x7f000001.'])
    .concat(['%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1', '127%E3%80%820%E3%80%820%E3%80%821', '%E2%91%A0%E2%91%A1%E2%91%A6.1'])
    .concat(['loc%C2%ADalhost', 'localho%C5%BFt', '%EF%BD%8Cocalhost', 'a.INTERNAL.', 'metadata.google.internal.'])
    // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
    .concat(['[::ffff:10.0.0.1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::a00:1]', '[64:ff9b:1::7f00:1]'])
    .concat(['[2002:7f00:1::]', '[2002:a00:1::1]', '[2001:0:7f00:1::]', '[fec0::1]', '[ff02::1]', '[0:0:0:0:0:0:0:1]'])
    .concat(['169.254.169.254', '10.0.0.1', '192.168.0.1', '100.64.0.1', '[fd00::1]', '[fe80::1]', '255.255.255.255']);
  for (const host of hosts) {
    assert.equal(await tunnelStatus(ticket, `${host}:${port}`), 591, `CONNECT ${host}`);
    const answer = await request(ticket, `http://${host}:${port}/`, { headers: { Host: 'shop.example' } });
    assert.equal(answer.status, 591, `GET ${host}`);
    assert.equal(answer.headers[GATEWAY_OUTCOME_HEADER], 'private_address');
  }
  assert.deepEqual({ asked, dialled, seen: target.seen.length }, { asked: [], dialled: [], seen: 0 });
});

test('an IPv6 literal without brackets is not a CONNECT target', async (t) => {
  const router = await startTestRouter(t);
  assert.equal(await tunnelStatus(await router.ticket(), '::ffff:127.0.0.1:80'), 400);
});

test('a name that resolves to a private address is refused', async (t) => {
  const { provider, dialled } = providerOver({
    'rebind.example': [['10.0.0.5']],
    'six.example': [['::ffff:10.0.0.5']],
  });
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  assert.equal(await tunnelStatus(ticket, 'rebind.example:443'), 591);
  assert.equal((await request(ticket, 'http://rebind.example/')).status, 591);
  assert.equal((await request(ticket, 'http://six.example/')).status, 591);
  assert.deepEqual(dialled, []);
  const { hosts } = await router.traffic(ticket);
  assert.deepEqual(
    hosts.map(({ host, outcome, address, connections }) => ({ host, outcome, address, connections })),
    [
      { host: 'rebind.example', outcome: 'private_address', address: null, connections: 1 },
      { host: 'rebind.example', outcome: 'private_address', address: null, connections: 1 },
      { host: 'six.example', outcome: 'private_address', address: null, connections: 1 },
    ],
  );
});

test('one private address among public ones refuses the name', async (t) => {
  const { provider, dialled } = providerOver({ 'mixed.example': [['8.8.8.8', '127.0.0.1']] });
  const router = await startTestRouter(t, { provider });
  assert.equal(await tunnelStatus(await router.ticket(), 'mixed.example:443'), 591);
  assert.deepEqual(dialled, []);
});

test('a name that changes its address between check and dial is asked once, and dialled as checked', async (t) => {
  const target = await startTarget(t);
  const { provider, asked, dialled } = providerOver({ 'rebind.example': [['8.8.8.8'], ['127.0.0.1']] }, target.address);
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const { status, socket } = await openTunnel(ticket, 'rebind.example:80');
  assert.equal(status, 200);
  assert.match(await requestOver(socket, 'rebind.example'), /a page/);
  assert.deepEqual(asked, ['rebind.example']);
  assert.deepEqual(dialled, [['8.8.8.8']]);
  assert.equal((await request(ticket, 'http://rebind.example/')).status, 591, 'the second answer is judged anew');
});

/** Two servers on one port of this machine, at an address that is taken for public and at a private one, and how often each was reached. */
async function startTwins(t: TestContext) {
  const reached = { '127.0.0.2': 0, '127.0.0.1': 0 };
  let port = 0;
  for (const address of ['127.0.0.2', '127.0.0.1'] as const) {
    const server = net.createServer((socket) => {
      reached[address] += 1;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na page');
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    t.after(() => server.close());
    port = (server.address() as net.AddressInfo).port;
  }
  return { port, reached };
}

test('whatever a name server says, by alias, in one family or between check and dial, no private address is reached', async (t) => {
  const { port, reached } = await startTwins(t);
  const [good, bad] = [
    [127, 0, 0, 2],
    [127, 0, 0, 1],
  ] as const;
  const records: NameRecords = {
    'A good.example': [...good],
    'A rebind.example': [...good],
    'CNAME alias.example': 'second.example',
    'CNAME second.example': 'inner.example',
    'A inner.example': [...bad],
    'A mixed.example': [...good],
    'AAAA mixed.example': [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    'AAAA nat64.example': [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 0, 1],
    'AAAA mapped.example': [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1],
    'AAAA sixtofour.example': [0x20, 2, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  };
  const resolve = resolveNames([await startNameServer(t, records)]);
  const policy = Object.assign(new AddressPolicy([]), { allowsAddress: (address: string) => address === '127.0.0.2' });
  // The name leads elsewhere as soon as it was asked for.
  const resolveOnce = async (name: string) => {
    const addresses = await resolve(name);
    records['A rebind.example'] = [...bad];
    return addresses;
  };
  const router = await startTestRouter(t, { provider: directProvider(resolveOnce, connectTo, policy) });
  const ticket = await router.ticket();
  const status = async (name: string) => (await request(ticket, `http://${name}.example:${port}/`)).status;
  assert.equal(await status('rebind'), 200, 'what was checked is dialled');
  assert.equal(await status('rebind'), 591, 'and what is dialled is checked');
  assert.equal(await status('good'), 200);
  for (const name of ['alias', 'second', 'inner', 'mixed', 'nat64', 'mapped', 'sixtofour']) {
    assert.equal(await status(name), 591, name);
    assert.equal(await tunnelStatus(ticket, `${name}.example:${port}`), 591, `CONNECT ${name}`);
  }
  assert.deepEqual(reached, { '127.0.0.2': 2, '127.0.0.1': 0 });
});

test('a name that does not resolve is 593, not a page of the target', async (t) => {
  const { provider } = providerOver({});
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  assert.equal(await tunnelStatus(ticket, 'nowhere.example:443'), 593);
  const answer = await request(ticket, 'http://nowhere.example/');
  assert.deepEqual([answer.status, answer.headers[GATEWAY_OUTCOME_HEADER]], [593, 'dns']);
  assert.equal((await router.traffic(ticket)).hosts[0]?.outcome, 'dns');
});

test('the hosts of the exits file lead to private addresses, for exactly those names and ports', async (t) => {
  const target = await startTarget(t, (incoming, response) => response.end(incoming.headers.host));
  const { provider } = providerOver({});
  const router = await startTestRouter(t, {
    provider,
    hosts: { 'publisher.example': target.address, '*.adnet.test': target.address, 'shop.test:8443': target.address },
  });
  const ticket = await router.ticket();
  const status = async (url: string) => (await request(ticket, url)).status;
  assert.equal((await request(ticket, 'http://publisher.example/')).body, 'publisher.example');
  assert.equal(await status('http://PUBLISHER.example.:81/'), 200);
  assert.equal(await status('http://a.b.adnet.test/'), 200);
  assert.equal(await status('http://shop.test:8443/'), 200);
  assert.equal(await status('http://shop.test/'), 593);
  assert.equal(await status('http://adnet.test/'), 593);
  assert.equal(await status('http://www.publisher.example/'), 593);
  assert.equal(await status(`http://${target.address}/`), 591, 'the address itself stays closed');
  const { hosts } = await router.traffic(ticket);
  assert.equal(hosts.find(({ host }) => host === 'publisher.example')?.address, '127.0.0.1');
});

test('a target reaches nothing private through a redirect either: each request is judged', async (t) => {
  const secret = await startTarget(t);
  const target = await startTarget(t, (_, response) =>
    response.writeHead(302, { location: `http://${secret.address}/` }).end(),
  );
  const router = await startTestRouter(t, { hosts: { 'publisher.example': target.address } });
  const ticket = await router.ticket();
  const { headers } = await request(ticket, 'http://publisher.example/');
  assert.equal((await request(ticket, headers.location ?? '')).status, 591);
  assert.equal(secret.seen.length, 0);
});

test('what the operator denies, the cloud platform and this machine itself are refused as literals and as resolved addresses', async (t) => {
  const own = Object.values(networkInterfaces()).flatMap((found) => found?.map(({ address }) => address) ?? []);
  const denied = ['198.41.0.4', '168.63.129.16', '2a02:500::7', ...own.map((address) => address.replace(/%.*/, ''))];
  const names = denied.map((address, index): [string, string[][]] => [`n${index}.example`, [['8.8.8.8', address]]]);
  let dialled: string[][] = [];
  const router = await startTestRouter(t, {
    config: { ADSWEEP_DENY_ADDRESSES: '198.41.0.0/24, 2a02:500::/32' },
    provider: (addresses) => {
      const over = providerOver(Object.fromEntries(names), '127.0.0.1:9', addresses);
      dialled = over.dialled;
      return over.provider;
    },
  });
  const ticket = await router.ticket();
  const literals = denied.map((address) => (address.includes(':') ? `[${address}]` : address));
  for (const host of [...literals, '3324575748', '0xa83f8110', '0306.051.0.4', ...names.map(([name]) => name)])
    assert.equal(await tunnelStatus(ticket, `${host}:443`), 591, host);
  assert.deepEqual(dialled, []);
  assert.equal(await tunnelStatus(ticket, '198.41.1.4:443'), 594, 'the next block is dialled, here at a closed port');
  assert.deepEqual(dialled, [['198.41.1.4']]);
});

test('a host name that is too long for DNS is 593, and nothing of it is recorded', async (t) => {
  const { provider, asked } = providerOver({});
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const long = [`${'a'.repeat(64)}.example`, `${'a.'.repeat(125)}example`, `${'a.'.repeat(7_000)}example`];
  for (const host of long) {
    assert.equal(await tunnelStatus(ticket, `${host}:443`), 593, host.slice(0, 100));
    const answer = await request(ticket, `http://${host}/`, { headers: { Host: 'x' } });
    assert.deepEqual([answer.status, answer.headers[GATEWAY_OUTCOME_HEADER]], [593, 'dns']);
  }
  const { requests, hosts } = await router.traffic(ticket);
  assert.deepEqual({ requests, hosts, asked }, { requests: [], hosts: [], asked: [] });
});

test('whatever a page asks for, the lists of its ticket stay small and name every host', async (t) => {
  const target = await startTarget(t, (_, response) => response.end());
  const router = await startTestRouter(t, { hosts: { '*.example': target.address } });
  const ticket = await router.ticket();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  t.after(() => agent.destroy());
  const path = 'x'.repeat(12_000);
  const urls = Array.from({ length: 600 }, (_, index) => `http://h${index}.example/${path}`);
  await Promise.all(urls.map((url) => request(ticket, url, { agent })));
  const { requests, hosts } = await router.traffic(ticket);
  const characters = requests.reduce((sum, { url }) => sum + url.length, 0);
  assert.equal(requests[0]?.url.length, 8_192);
  assert.ok(characters < 4_100_000, `${characters} characters`);
  assert.equal(new URL(requests.at(-1)?.url ?? '').pathname, '/');
  assert.equal(new Set(requests.map(({ url }) => new URL(url).host)).size, 600);
  assert.equal(hosts.length, 600);
});
