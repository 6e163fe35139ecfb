import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { freePort } from '../../shared/test/support/free-port.ts';
import { until } from '../../shared/test/support/until.ts';
import { newTicketId, signTicket } from '../src/tickets/ticket.ts';
import { openTunnel, proxyAuthorization, request, requestOver, sendRaw } from './support/proxy-client.ts';
import { startTestRouter, TICKET_SECRET } from './support/router.ts';
import { startTarget } from './support/target.ts';

const url = 'http://shop.example/page';

/** Two replicas behind a load balancer that sends everything to the wrong one. */
async function twoReplicas(t: TestContext) {
  const target = await startTarget(t);
  const hosts = { 'shop.example': target.address };
  const replica = async () => {
    const port = await freePort();
    const config = { ADSWEEP_PROXY_PORT: port, ADSWEEP_REPLICA_URL: `http://127.0.0.1:${port}` };
    return startTestRouter(t, { hosts, config: { ...config, ADSWEEP_GATEWAY_PORT: await freePort() } });
  };
  const [keeper, other] = [await replica(), await replica()];
  const ticket = { ...(await keeper.ticket()), server: `http://127.0.0.1:${other.ports.gateway}` };
  return { target, keeper, other, ticket };
}

test('a ticket is accounted for by the replica that issued it, whichever replica carries its traffic', async (t) => {
  const { keeper, other, ticket } = await twoReplicas(t);
  assert.equal((await request(ticket, url, { method: 'POST', body: 'a form' })).body, 'a page');
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  assert.match(await requestOver(socket, 'shop.example'), /a page$/);
  const traffic = await keeper.traffic(ticket);
  assert.deepEqual(
    traffic.hosts.map(({ host, port }) => `${host}:${port}`),
    ['shop.example:80', 'shop.example:443'],
  );
  assert.ok(traffic.bytes_received > 0);
  assert.deepEqual((await other.traffic(ticket)).requests, traffic.requests);
});

test('answers of the gateway pass with their outcome, to plain requests and to tunnels', async (t) => {
  const { ticket } = await twoReplicas(t);
  const plain = await request(ticket, 'http://127.0.0.1/');
  assert.deepEqual([plain.status, plain.headers['adsweep-gateway-outcome']], [591, 'private_address']);
  const tunnel = await openTunnel(ticket, '127.0.0.1:443');
  tunnel.socket.destroy();
  assert.deepEqual([tunnel.status, tunnel.headers['adsweep-gateway-outcome']], [591, 'private_address']);
});

test('a WebSocket passes by the replica that keeps the account', async (t) => {
  const { target, ticket } = await twoReplicas(t);
  target.server.on('upgrade', (_, socket) =>
    socket.end('HTTP/1.1 101 Hello\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nbye'),
  );
  const head = `GET ${url} HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n\r\n`;
  assert.match(await sendRaw(ticket, head), /^HTTP\/1\.1 101 [\s\S]*bye$/);
});

test('deleting a ticket at any replica ends it', async (t) => {
  const { other, ticket } = await twoReplicas(t);
  assert.equal((await other.call('DELETE', `/exits/${ticket.ticket_id}`)).status, 204);
  await until('the ticket to be refused', async () => (await request(ticket, url)).status === 407);
});

test('without the replica that keeps its account a ticket is of no use, and no replica is asked that the ticket does not name', async (t) => {
  const { keeper, other, ticket } = await twoReplicas(t);
  await keeper.stop();
  assert.equal((await request(ticket, url)).status, 599);
  const tunnel = await openTunnel(ticket, 'shop.example:443');
  tunnel.socket.destroy();
  assert.equal(tunnel.status, 599);
  assert.equal((await other.call('GET', `/exits/${ticket.ticket_id}/traffic`)).status, 503);
  const [id, replica] = ticket.ticket_id.split('.');
  assert.equal((await other.call('GET', `/exits/${id}.${replica}.forged/traffic`)).status, 404);
});

/** The port of a machine that answers no SYN any more: nothing accepts the connections that fill its queue. */
async function deafPort(t: TestContext): Promise<number> {
  const code = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:worker_threads').parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const worker = new Worker(code, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queued = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  t.after(() => {
    for (const socket of queued) socket.destroy();
    return worker.terminate();
  });
  await until('a full queue', () => queued.filter(({ connecting }) => !connecting).length >= 2);
  return port;
}

test('a replica that does not answer is given up after the time for connecting, with 599', async (t) => {
  const gateway = `http://127.0.0.1:${await deafPort(t)}`;
  const port = await freePort();
  const router = await startTestRouter(t, {
    config: {
      ADSWEEP_PROXY_PORT: port,
      ADSWEEP_GATEWAY_PORT: await freePort(),
      ADSWEEP_REPLICA_URL: `http://127.0.0.1:${port}`,
      ADSWEEP_CONNECT_TIMEOUT_SECONDS: 0.2,
    },
  });
  const id = newTicketId({ api: 'http://127.0.0.1:9', gateway }, TICKET_SECRET);
  const claims = { id, exit: 'direct-us', session: 's', scan: 's', expires: Date.now() + 60_000 };
  const ticket = { ...signTicket(claims, TICKET_SECRET), server: `http://127.0.0.1:${router.ports.gateway}` };
  const plain = await request(ticket, url);
  assert.deepEqual([plain.status, plain.headers['adsweep-gateway-outcome']], [599, 'upstream_failed']);
  const tunnel = await openTunnel(ticket, 'shop.example:443');
  tunnel.socket.destroy();
  assert.equal(tunnel.status, 599);
});
