import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../shared/test/support/free-port.ts';
import { until } from '../../shared/test/support/until.ts';
import { openTunnel, proxyAuthorization, request, requestOver, sendRaw } from './support/proxy-client.ts';
import { startTestRouter } from './support/router.ts';
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
