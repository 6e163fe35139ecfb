import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { connectTo } from '../src/providers/connect-to.ts';
import { directProvider } from '../src/providers/direct.ts';
import { openTunnel, request } from './support/proxy-client.ts';
import { exitIn, PUBLIC_ADDRESSES, startTestRouter } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';

type Case = { input: string; href?: string; host?: string; expect: 'reject' | 'accept-or-resolve'; reason: string };
const observed = corpusData('url/private-host-urls.json');

/** Servers on one port of the addresses of this machine that private hosts lead to, and how often somebody came. */
async function startListeners(t: TestContext): Promise<{ port: number; reached: () => number }> {
  let reached = 0;
  let port = 0;
  for (const address of ['127.0.0.1', '127.0.0.2', '127.127.127.127', '::1']) {
    const server = net.createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    // A machine without IPv6 has no ::1.
    server.once('error', () => resolve()).listen(port, address, resolve);
    await promise;
    if (!server.listening) continue;
    port = (server.address() as AddressInfo).port;
    t.after(() => server.close());
  }
  return { port, reached: () => reached };
}

/** Why an observed host is private; others are refused for what else their URL has. */
const PRIVATE = /non-public|single-label|local|internal|metadata/;

/** The hosts of all observed URLs that http can be spoken to, as they were written and as WHATWG reads them. */
function observedHosts(): { host: string; isPrivate: boolean }[] {
  const cases = JSON.parse(readFileSync(observed.path, 'utf8')) as Case[];
  const hosts = new Map<string, boolean>();
  for (const { input, expect, reason } of cases) {
    const url = URL.parse(input);
    if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') continue;
    const written = /^https?:\/\/([!-.0-9A-Z_a-z~%[\]:]+?)(:\d*)?([/?#]|$)/i.exec(input)?.[1] ?? '';
    const isSame = URL.parse(`http://${written}/`)?.hostname === url.hostname;
    for (const host of isSame ? [url.hostname, written] : [url.hostname])
      hosts.set(host, expect === 'reject' && PRIVATE.test(reason));
  }
  return [...hosts].map(([host, isPrivate]) => ({ host, isPrivate }));
}

test('§4.2.15 no observed way to write a private host gets through, nor any name that resolves to one', async (t) => {
  if (observed.skip) return t.skip(observed.skip);
  const { port, reached } = await startListeners(t);
  const toLoopback = async () => ['127.0.0.1'];
  const provider = directProvider(toLoopback, connectTo, PUBLIC_ADDRESSES);
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const hosts = observedHosts().filter(
    ({ host, isPrivate }) => isPrivate || (net.isIP(host) === 0 && !host.startsWith('[')),
  );
  assert.ok(hosts.length > 50, `${hosts.length} hosts`);
  for (const { host } of hosts) {
    const { status } = await request(ticket, `http://${host}:${port}/`, { headers: { Host: 'x' } });
    assert.ok([400, 591, 593].includes(status), `GET ${host}: ${status}`);
    const tunnel = await openTunnel(ticket, `${host}:${port}`);
    tunnel.socket.destroy();
    assert.ok([400, 591, 593].includes(tunnel.status), `CONNECT ${host}: ${tunnel.status}`);
  }
  assert.equal(reached(), 0);
});

test('§4.2.15 no observed literal of a private address, and no local name, leaves by an upstream', async (t) => {
  if (observed.skip) return t.skip(observed.skip);
  const vendor = await startVendor(t);
  const upstream = `http://cust-42-cc-us:secret@${vendor.address}`;
  const router = await startTestRouter(t, { exits: [exitIn('US', { provider: 'list', upstream })] });
  const ticket = await router.ticket();
  for (const { host } of observedHosts().filter((one) => one.isPrivate)) {
    const { status } = await request(ticket, `http://${host}/`, { headers: { Host: 'x' } });
    assert.ok([400, 591].includes(status), `GET ${host}: ${status}`);
  }
  assert.deepEqual(vendor.asked, []);
});
