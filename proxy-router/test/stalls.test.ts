import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STALLED_MS } from '@adsweep/shared/targeting/exit-ticket.ts';
import { openTunnel } from './support/proxy-client.ts';
import { exitIn, startTestRouter, targeting } from './support/router.ts';
import { startRawTarget } from './support/target.ts';

test('a connection through an upstream that receives nothing for 5 s is stalled; one without an upstream is not', async (t) => {
  const upstream = await startRawTarget(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n')),
  );
  const silent = await startRawTarget(t, (socket) => socket.resume());
  const router = await startTestRouter(t, {
    exits: [exitIn('AA', { provider: 'list', upstream: `http://${upstream.address}` }), exitIn('BB')],
    hosts: { 'shop.example': silent.address },
  });
  const tickets = await Promise.all(
    ['AA', 'BB'].map((country_code) => router.ticket({ targeting: targeting({ country_code }) })),
  );
  for (const ticket of tickets) (await openTunnel(ticket, 'shop.example:443')).socket.resume();
  const stalls = () =>
    Promise.all(tickets.map(async (ticket) => (await router.traffic(ticket)).hosts.map(({ stalled }) => stalled)));
  assert.deepEqual(await stalls(), [[undefined], [undefined]]);
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + STALLED_MS);
  assert.deepEqual(await stalls(), [[true], [undefined]]);
});
