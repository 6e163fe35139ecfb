import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { TicketCounts } from '../src/exits/ticket-counts.ts';
import { TicketJournal } from '../src/tickets/ticket-journal.ts';
import { TicketRegistry } from '../src/tickets/ticket-registry.ts';
import { openTunnel, request, tunnelStatus } from './support/proxy-client.ts';
import {
  apiClient,
  enrolledClient,
  exitIn,
  leasedSession,
  startTestRouter,
  temporaryFolder,
} from './support/router.ts';
import { startVendor } from './support/simulated-vendor.ts';
import { startRawTarget, startTarget } from './support/target.ts';

test('an enrolled node does not get the last tickets of an exit while another one asks for them', async (t) => {
  const router = await startTestRouter(t, { exits: [exitIn('US', { tickets_max: 8 })] });
  const asNode = (name: string) => enrolledClient(`http://127.0.0.1:${router.ports.api}`, name);
  const take = async (node: ReturnType<typeof asNode>, most: number) => {
    const taken: ExitTicket[] = [];
    for (let at = 0; at < most; at += 1) {
      const ticket = await node.ticket().catch(() => null);
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
  const node = enrolledClient(`http://127.0.0.1:${router.ports.api}`, 'node-1');
  const statusOf = async (client: Pick<typeof node, 'call'>) => (await client.call('DELETE', '/exits/none')).status;
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
  const node = enrolledClient(base, 'node-1');
  const tickets = await Promise.all([1, 2, 3, 4].map(() => node.ticket()));
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
  const hostile = enrolledClient(`http://127.0.0.1:${before.ports.api}`, 'hostile');
  const tickets = await Promise.all(['a', 'b'].map((scan_id) => hostile.ticket({ scan_id })));
  await before.stop();
  const router = await startTestRouter(t, options);
  const base = `http://127.0.0.1:${router.ports.api}`;
  for (const ticket of tickets) {
    const moved = { ...ticket, server: `http://127.0.0.1:${router.ports.gateway}` };
    assert.equal((await request(moved, 'http://of-the-node.example/')).status, 597);
  }
  await assert.rejects(enrolledClient(base, 'hostile').ticket(), /503.*NODE_BUSY/);
  const other = await enrolledClient(base, 'other').ticket();
  assert.equal((await request(other, 'http://shop.example/')).status, 200);
  await router.ticket();
});

const HOUR_MS = 3_600_000;

test('an enrolled node gets tickets for a lease that it was given itself in the last hours, and for nothing else', async (t) => {
  const router = await startTestRouter(t);
  const node = enrolledClient(`http://127.0.0.1:${router.ports.api}`, 'node-1');
  const signed = leasedSession('node-1', 20);
  const ticket = await node.ticket({ session: signed });
  assert.equal(ticket.exit.session, signed.slice(0, -18), 'vendors get the session alone');
  await node.ticket({ session: leasedSession('node-1', 1, Date.now() - 2 * HOUR_MS) });
  const others = [
    'session-1',
    leasedSession('node-2'),
    leasedSession('node-1', 1, Date.now() - 4 * HOUR_MS),
    `${signed.slice(0, -18)}zz${signed.slice(-16)}`,
    signed.slice(0, -18),
  ];
  for (const session of others) await assert.rejects(node.ticket({ session }), /403.*LEASE_REQUIRED/, session);
  const { picks } = (await (await router.call('GET', '/overview')).json()) as { picks: Record<string, number> };
  assert.deepEqual([picks.issued, picks.LEASE_REQUIRED], [2, others.length], 'which an alert is about');
  await router.ticket({ session: 'session-1' });
});

test('the tickets of a lease of an enrolled node carry what its attempts need, also those that are asked for at once', async (t) => {
  const target = await startTarget(t, (_, response) => response.end(Buffer.alloc(600_000)));
  const router = await startTestRouter(t, { hosts: { 'shop.example': target.address } });
  const node = enrolledClient(`http://127.0.0.1:${router.ports.api}`, 'node-1');
  const session = leasedSession('node-1');
  const ask = () => node.ticket({ session, bytes_max: 200_000_000 });
  const asked = await Promise.allSettled(Array.from({ length: 8 }, ask));
  const issued = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(issued.length, 2, 'an attempt, and once more in another browser');
  await assert.rejects(ask(), /429.*LEASE_SPENT/);
  assert.equal((await request(issued[0]!, 'http://shop.example/')).status, 200);
  await node.call('DELETE', `/exits/${issued[0]!.ticket_id}`);
  const third = await ask();
  const [, claims] = [third, JSON.parse(Buffer.from(third.username, 'base64url').toString())];
  assert.ok(claims.bytes < 200_000_000 - 600_000 && claims.bytes > 190_000_000, 'what the first one did not transfer');
  for (const { ticket_id } of [issued[1]!, third]) await node.call('DELETE', `/exits/${ticket_id}`);
  const fourth = await ask();
  await node.call('DELETE', `/exits/${fourth.ticket_id}`);
  await assert.rejects(ask(), /429.*LEASE_SPENT/, 'however little they transfer');
  await node.ticket();
});

test('deletions of tickets that were never issued leave no record, those of issued ones do', async (t) => {
  const folder = temporaryFolder();
  const config = { ADSWEEP_DATA_DIR: folder };
  const before = await startTestRouter(t, { config });
  const [now, later] = [await before.ticket(), await before.ticket()];
  const forget = async (router: typeof before, id: string) =>
    assert.equal((await router.call('DELETE', `/exits/${id}`)).status, 204);
  await forget(before, now.ticket_id);
  for (const id of [randomUUID(), `${randomUUID()}.${now.ticket_id.split('.')[1]}`]) await forget(before, id);
  await before.stop();
  const router = await startTestRouter(t, { config });
  await forget(router, later.ticket_id);
  await forget(router, later.ticket_id);
  const lines = readFileSync(join(folder, 'exit-tickets.jsonl'), 'utf8').split('\n').filter(Boolean);
  const ids = lines.map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, [now.ticket_id, later.ticket_id]);
});
