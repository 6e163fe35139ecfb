import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { routerPass } from '@adsweep/shared/lease/router-pass.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { TicketCounts } from '../src/exits/ticket-counts.ts';
import { TicketJournal } from '../src/tickets/ticket-journal.ts';
import { TicketRegistry } from '../src/tickets/ticket-registry.ts';
import { openTunnel, request, tunnelStatus } from './support/proxy-client.ts';
import { apiClient, exitIn, NODE_TOKEN, startTestRouter, temporaryFolder } from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startRawTarget, startTarget } from './support/target.ts';

test('an enrolled node does not get the last tickets of an exit while another one asks for them', async (t) => {
  const router = await startTestRouter(t, { exits: [exitIn('US', { tickets_max: 8 })] });
  const asNode = (name: string) =>
    apiClient(`http://127.0.0.1:${router.ports.api}`, routerPass(NODE_TOKEN, name, new Date()));
  const take = async (node: ReturnType<typeof asNode>, most: number) => {
    const taken: ExitTicket[] = [];
    for (let at = 0; at < most; at += 1) {
      const ticket = await node.ticket({ session: `session${at}` }).catch(() => null);
      if (ticket) taken.push(ticket);
    }
    return taken;
  };
  const [large, small] = [asNode('large'), asNode('small')];
  const alone = await take(large, 10);
  assert.equal(alone.length, 8, 'while nobody else asks it may have all');
  await assert.rejects(small.ticket(), /503.*NODE_BUSY/);
  for (const { ticket_id } of alone) await large.call('DELETE', `/exits/${ticket_id}`);
  assert.equal((await take(large, 10)).length, 7);
  assert.equal((await take(small, 10)).length, 1);
});

test('an enrolled node has a bounded number of tickets, and makes so many changes in a second', async (t) => {
  const journal = new TicketJournal(join(temporaryFolder(), 'exit-tickets.jsonl'), 0);
  const tickets = new TicketRegistry(1_000, journal, new TicketCounts());
  t.after(() => tickets.stop(Date.now()));
  const ids = Array.from({ length: 512 }, () => randomUUID());
  const claims = { exit: 'us', session: 's', scan: 's', expires: Date.now() + 60_000, node: 'node-1' };
  for (const id of ids) tickets.open({ ...claims, id });
  assert.deepEqual(
    [tickets.hasTooMany('node-1'), tickets.hasTooMany('node-2'), tickets.hasTooMany(null)],
    [true, false, false],
  );
  await tickets.delete(ids[0]!, Date.now());
  await tickets.delete(ids[0]!, Date.now());
  assert.equal(tickets.hasTooMany('node-1'), false);

  const router = await startTestRouter(t);
  const node = apiClient(`http://127.0.0.1:${router.ports.api}`, routerPass(NODE_TOKEN, 'node-1', new Date()));
  const statusOf = async (client: typeof node) => (await client.call('DELETE', '/exits/none')).status;
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length < 2_000)
    statuses.push(...(await Promise.all(Array.from({ length: 200 }, () => statusOf(node)))));
  assert.equal(statuses.at(-1), 429);
  assert.equal((await node.call('GET', '/catalogue/times')).status, 200);
  assert.equal(await statusOf(apiClient(`http://127.0.0.1:${router.ports.api}`)), 204);
});

test('the tickets of an enrolled node leave half of the connections to others', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.pipe(socket));
  const hosts = { 'shop.example': target.address };
  const router = await startTestRouter(t, { hosts, config: { ADSWEEP_GATEWAY_CONNECTIONS_MAX: 16 } });
  const base = `http://127.0.0.1:${router.ports.api}`;
  const node = apiClient(base, routerPass(NODE_TOKEN, 'node-1', new Date()));
  const tickets = await Promise.all([1, 2, 3, 4].map((at) => node.ticket({ session: `session${at}` })));
  const open: Awaited<ReturnType<typeof openTunnel>>[] = [];
  for (const ticket of tickets)
    for (let at = 0; at < 3; at += 1) open.push(await openTunnel(ticket, 'shop.example:443'));
  t.after(() => open.map(({ socket }) => socket.destroy()));
  assert.equal(open.filter(({ status }) => status === 200).length, 8);
  assert.equal(await tunnelStatus(await router.ticket(), 'shop.example:443'), 200);
});

test('what an enrolled node provokes takes an exit from no other, also with tickets of before a restart of the router', async (t) => {
  const target = await startTarget(t);
  const vendor = await startVendor(t);
  Object.assign(vendor, {
    behavior: { status: 429 },
    spared: 'shop.example',
    hosts: { 'shop.example': target.address },
  });
  const upstream = `http://cust-42-cc-us:secret@${vendor.address}`;
  const options = {
    exits: [exitIn('US', { provider: 'list', upstream })],
    config: { ADSWEEP_DATA_DIR: temporaryFolder() },
  };
  const before = await startTestRouter(t, options);
  const hostile = routerPass(NODE_TOKEN, 'hostile', new Date());
  const tickets = await Promise.all(
    ['a', 'b'].map((scan_id) => apiClient(`http://127.0.0.1:${before.ports.api}`, hostile).ticket({ scan_id })),
  );
  await before.stop();
  const router = await startTestRouter(t, options);
  const base = `http://127.0.0.1:${router.ports.api}`;
  for (const ticket of tickets) {
    const moved = { ...ticket, server: `http://127.0.0.1:${router.ports.gateway}` };
    assert.equal((await request(moved, 'http://of-the-node.example/')).status, 597);
  }
  await assert.rejects(apiClient(base, hostile).ticket(), /503.*NODE_BUSY/);
  const other = await apiClient(base, routerPass(NODE_TOKEN, 'other', new Date())).ticket();
  assert.equal((await request(other, 'http://shop.example/')).status, 200);
  await router.ticket();
});
