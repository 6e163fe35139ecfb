import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';
import { until } from '../../shared/test/support/until.ts';
import { TicketCounts } from '../src/exits/ticket-counts.ts';
import { connectTo } from '../src/providers/connect-to.ts';
import { TicketJournal, type TicketRecord } from '../src/tickets/ticket-journal.ts';
import { TicketRegistry } from '../src/tickets/ticket-registry.ts';
import { openTunnel, request, tunnelStatus } from './support/proxy-client.ts';
import {
  apiClient,
  exitIn,
  logger,
  NODE_TOKEN,
  startTestRouter,
  TICKET_SECRET,
  temporaryFolder,
} from './support/router.ts';
import { startRawTarget, startTarget } from './support/target.ts';

const url = 'http://shop.example/';
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A router as a process of its own over the data in `folder`. */
async function startProcess(t: TestContext, folder: string, address: string) {
  const file = join(folder, 'exits.json');
  writeFileSync(file, JSON.stringify({ exits: [exitIn('US')], hosts: { 'shop.example': address } }));
  const env = { ADSWEEP_PROXY_PORT: '0', ADSWEEP_NODE_TOKEN: NODE_TOKEN, ADSWEEP_TICKET_SECRET: TICKET_SECRET };
  const child = fork(main, { env: { ...env, ADSWEEP_DATA_DIR: folder, ADSWEEP_EXITS_FILE: file }, silent: true });
  t.after(() => child.kill('SIGKILL'));
  const [{ ports }] = (await once(child, 'message')) as [Ready];
  const moved = (ticket: ExitTicket) => ({ ...ticket, server: `http://127.0.0.1:${ports.gateway}` });
  return { child, moved, ...apiClient(`http://127.0.0.1:${ports.api}`) };
}

test('a deleted ticket is refused until it expires', async (t) => {
  const target = await startTarget(t);
  const router = await startTestRouter(t, { hosts: { 'shop.example': target.address } });
  const [ticket, other] = [await router.ticket(), await router.ticket()];
  assert.equal((await request(ticket, url)).status, 200);
  assert.equal((await router.call('DELETE', `/exits/${ticket.ticket_id}`)).status, 204);
  assert.equal((await request(ticket, url)).status, 407);
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 407);
  assert.equal((await router.call('GET', `/exits/${ticket.ticket_id}/traffic`)).status, 404, 'nor is it begun anew');
  assert.equal((await request(other, url)).status, 200, 'other tickets go on');
  assert.equal(target.seen.length, 2);
});

test('a deleted ticket stays deleted after a SIGKILL of the router, one deleted elsewhere before its first use too', async (t) => {
  const target = await startTarget(t);
  const folder = temporaryFolder();
  const first = await startProcess(t, folder, target.address);
  const [deleted, kept, later] = [await first.ticket(), await first.ticket(), await first.ticket()];
  assert.equal((await request(deleted, url)).status, 200);
  assert.equal((await first.call('DELETE', `/exits/${deleted.ticket_id}`)).status, 204);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = await startProcess(t, folder, target.address);
  assert.equal((await second.call('DELETE', `/exits/${later.ticket_id}`)).status, 204);
  assert.equal((await request(second.moved(deleted), url)).status, 407);
  assert.equal((await request(second.moved(later), url)).status, 407);
  assert.equal((await request(second.moved(kept), url)).status, 200);
});

test('the bytes of a ticket still count after a restart', async (t) => {
  const target = await startTarget(t, (_, response) => response.end(Buffer.alloc(600_000)));
  const config = { ADSWEEP_DATA_DIR: temporaryFolder(), ADSWEEP_TICKET_BYTES_MAX: 1_000_000 };
  const hosts = { 'shop.example': target.address };
  const first = await startTestRouter(t, { hosts, config });
  const ticket = await first.ticket();
  assert.equal((await request(ticket, url)).status, 200);
  await first.stop();
  const second = await startTestRouter(t, { hosts, config });
  const moved = { ...ticket, server: `http://127.0.0.1:${second.ports.gateway}` };
  await assert.rejects(request(moved, url), 'the second half does not fit any more');
  assert.equal((await request(moved, url)).status, 590);
  assert.ok((await second.traffic(ticket)).bytes_received > 1_000_000);
});

test('a ticket that is deleted while its target is dialled opens nothing', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.resume());
  const [dialling, dialled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [host = '', port] = target.address.split(':');
  const provider = {
    resolvesNames: true,
    dial: async (_exit: unknown, _to: unknown, signal: AbortSignal) => {
      dialling.resolve();
      await dialled.promise;
      return { socket: await connectTo([host], Number(port), signal), address: host };
    },
  };
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const opening = openTunnel(ticket, 'slow.example:443');
  await dialling.promise;
  await router.call('DELETE', `/exits/${ticket.ticket_id}`);
  dialled.resolve();
  const { status, socket } = await opening;
  socket.destroy();
  assert.equal(status, 595);
  await until('all connections to be closed', () => target.connections.size === 0);
});

const record = (more: Partial<TicketRecord> = {}): TicketRecord => ({
  id: randomUUID(),
  expires: 2_000,
  deleted: true,
  bytes_sent: 0,
  bytes_received: 0,
  ...more,
});

test('the journal keeps the last record of a ticket, passes over a line cut short, and drops what expired', () => {
  const path = join(temporaryFolder(), 'exit-tickets.jsonl');
  const [grown, expired] = [record({ deleted: false, bytes_sent: 1 }), record({ expires: 1_000 })];
  const journal = new TicketJournal(path, 0);
  for (const one of [grown, expired, { ...grown, bytes_sent: 7 }]) journal.append(one);
  appendFileSync(path, '{"id":"torn","exp');
  const again = new TicketJournal(path, 1_500);
  assert.equal(again.find(grown.id)?.bytes_sent, 7);
  assert.equal(again.find('torn'), undefined);
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 2, 'the file was written anew with the one that counts');
  again.sweep(2_500);
  assert.equal(again.find(grown.id), undefined);
  for (const one of [journal, again]) one.close();
});

test('a record of which a full disk took only a part takes none of the next ones with it', () => {
  const path = join(temporaryFolder(), 'exit-tickets.jsonl');
  const journal = new TicketJournal(path, 0);
  const [before, next] = [record(), record()];
  journal.append(before);
  appendFileSync(path, '{"id":"torn","exp');
  journal.append(next);
  const again = new TicketJournal(path, 0);
  assert.deepEqual([again.find(before.id), again.find(next.id)], [before, next]);
  for (const one of [journal, again]) one.close();
});

test('a journal that cannot be written is logged once, and again when it can', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  class Disk extends TicketJournal {
    isFull = true;
    override append(one: TicketRecord): void {
      if (this.isFull) throw new Error('ENOSPC');
      super.append(one);
    }
  }
  const journal = new Disk(join(temporaryFolder(), 'exit-tickets.jsonl'), 0);
  const tickets = new TicketRegistry(1_000, journal, new TicketCounts());
  const lines: string[] = [];
  const log =
    (level: string) =>
    (...said: unknown[]) =>
      void lines.push(`${level} ${said.at(-1)}`);
  tickets.start({ error: log('error'), info: log('info') } as unknown as Logger);
  const ids = Array.from({ length: 4 }, () => randomUUID());
  for (const id of ids)
    tickets.open({ id, exit: 'us', session: 's', scan: id, expires: Date.now() + 60_000 })!.addBytes(400, 0);
  t.mock.timers.tick(3_000);
  assert.deepEqual(lines, ['error the journal of tickets cannot be written']);
  journal.isFull = false;
  t.mock.timers.tick(3_000);
  assert.deepEqual(lines.slice(1), ['info the journal of tickets is written again']);
  for (const id of ids) assert.equal(journal.find(id)?.bytes_sent, 400);
  tickets.stop(Date.now());
});

test('a ticket that is not used for a while, as that of a node that is gone, does not count against its exit until it is used again', async (t) => {
  const journal = new TicketJournal(join(temporaryFolder(), 'exit-tickets.jsonl'), 0);
  const counts = new TicketCounts();
  const tickets = new TicketRegistry(1_000, journal, counts, 300);
  tickets.start(logger);
  t.after(() => tickets.stop(Date.now()));
  const isFull = () => counts.isFull(exitIn('US', { id: 'us', tickets_max: 1 }), null, Date.now());
  const open = () =>
    tickets.open({ id: randomUUID(), exit: 'us', session: 's', scan: 's', expires: Date.now() + 60_000 })!;
  const ticket = open();
  assert.equal(isFull(), true);
  await until('it not to count', () => !isFull());
  ticket.streamOpened({ count: () => undefined, close: () => undefined });
  await until('it to count again', isFull);
});

test('the journal is bounded, in memory and on the disk', () => {
  const path = join(temporaryFolder(), 'exit-tickets.jsonl');
  const journal = new TicketJournal(path, 0);
  const [first, last] = [record(), record()];
  journal.append(first);
  for (let index = 0; index < 60_000; index += 1) journal.append(record());
  journal.append(last);
  assert.deepEqual([journal.find(first.id), journal.find(last.id)], [undefined, last]);
  journal.sweep(1_000);
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 50_001);
  journal.append(first);
  const again = new TicketJournal(path, 0);
  assert.deepEqual([again.find(first.id), again.find(last.id)], [first, last]);
  for (const one of [journal, again]) one.close();
});

test('a folder that others need is refused before anything is written into it', async (t) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'somebody-else'));
  chmodSync(folder, 0o755);
  await assert.rejects(startTestRouter(t, { config: { ADSWEEP_DATA_DIR: folder } }), /is open to other users/);
  assert.deepEqual(readdirSync(folder), ['somebody-else']);
});

test('a journal that cannot be written ends the start with its path', async (t) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'exit-tickets.jsonl'));
  await assert.rejects(
    startTestRouter(t, { config: { ADSWEEP_DATA_DIR: folder } }),
    /exit-tickets.jsonl, the journal of/,
  );
});
