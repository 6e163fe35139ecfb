import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sent } from 'node:timers/promises';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { until } from '../../shared/test/support/until.ts';
import { openTunnel, request } from './support/proxy-client.ts';
import { exitIn, startTestRouter, targeting } from './support/router.ts';
import { startRawTarget } from './support/target.ts';

/** What a vendor does with a connection, the protocol that it is spoken to, and the outcome of a request through it. */
type Case = { name: string; does: (socket: Socket) => void; protocol?: 'http' | 'https' | 'socks5'; outcome: string };

const answers = (text: string) => (socket: Socket) => void socket.once('data', () => socket.write(text, 'latin1'));
const closesAfter = (text: string) => (socket: Socket) => void socket.once('data', () => socket.end(text));
const answersInParts =
  (...texts: string[]) =>
  (socket: Socket) =>
    void socket.once('data', async () => {
      for (const text of texts) {
        socket.write(text);
        await sent(20);
      }
    });
const closesWhenAsked = (socket: Socket) =>
  void socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.once('data', () => socket.end());
  });
const saysNothing = (socket: Socket) => void socket.resume();
/** Sends `begin` and then `more` for as long as the other side reads. */
const endless = (begin: string, more: string) => (socket: Socket) => {
  const send = () => {
    while (!socket.destroyed && socket.write(more)) {}
  };
  socket.on('drain', send).once('data', () => socket.write(begin, send));
};

const FAILED = 'upstream_failed';
const REFUSED = 'account_refused';

/** Vendors that leave us waiting: the time for connecting ends it. */
const SILENT: Case[] = [
  { name: 'never answers the CONNECT', does: saysNothing, outcome: FAILED },
  { name: 'never answers the SOCKS5 greeting', does: saysNothing, protocol: 'socks5', outcome: FAILED },
  { name: 'never answers the SOCKS5 request', does: answers('\x05\x00'), protocol: 'socks5', outcome: FAILED },
  { name: 'hangs in its TLS handshake', does: saysNothing, protocol: 'https', outcome: FAILED },
  { name: 'stops in the middle of its header', does: answers('HTTP/1.1 200 OK\r\nServer: x'), outcome: FAILED },
];

const LOUD: Case[] = [
  {
    name: 'greets as another protocol does and waits',
    does: (socket) => socket.resume().write('SSH-2.0-x\r\n'),
    outcome: FAILED,
  },
  { name: 'answers noise', does: answers('\x00\xff\x17\x03\x03\r\n\r\n'), outcome: FAILED },
  { name: 'answers no status', does: answers('HTTP/1.1 banana\r\n\r\n'), outcome: FAILED },
  { name: 'answers HTTP/2', does: answers('HTTP/2 200 OK\r\n\r\n'), outcome: FAILED },
  { name: 'answers noise to TLS', does: answers('HTTP/1.1 400 Bad\r\n\r\n'), protocol: 'https', outcome: FAILED },
  { name: 'answers noise to SOCKS5', does: answers('HTTP/1.1 400 Bad\r\n\r\n'), protocol: 'socks5', outcome: FAILED },
  { name: 'takes no way to sign in', does: answers('\x05\xff'), protocol: 'socks5', outcome: REFUSED },
  { name: 'closes during the SOCKS5 greeting', does: closesAfter('\x05'), protocol: 'socks5', outcome: FAILED },
  { name: 'closes during the TLS handshake', does: closesAfter(''), protocol: 'https', outcome: FAILED },
  { name: 'closes in the middle of its header', does: closesAfter('HTTP/1.1 200 OK\r\nServer: x'), outcome: FAILED },
  { name: 'closes without a word', does: closesAfter(''), outcome: FAILED },
  { name: 'resets', does: (socket) => void socket.once('data', () => socket.resetAndDestroy()), outcome: FAILED },
  { name: 'redirects', does: answers('HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n'), outcome: FAILED },
  {
    name: 'answers 407 with a challenge',
    outcome: REFUSED,
    does: answers('HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n'),
  },
  { name: 'answers 407 without a challenge', does: answers('HTTP/1.1 407 Auth\r\n\r\n'), outcome: REFUSED },
  {
    name: 'answers 407 with another challenge',
    outcome: REFUSED,
    does: answers('HTTP/1.1 407 x\r\nProxy-Authenticate: Negotiate\r\nConnection: close\r\n\r\n'),
  },
  {
    name: 'answers 500 and its own text',
    does: answers('HTTP/1.1 500 x\r\n\r\nInternal error at gw-7'),
    outcome: FAILED,
  },
  {
    name: 'answers 502 without an exit',
    does: answers('HTTP/1.1 502 x\r\n\r\nNo exit node found'),
    outcome: 'no_exit',
  },
  {
    name: 'answers 500, and its text in a later packet',
    does: answersInParts('HTTP/1.1 500 x\r\n', 'Server: y\r\n\r\n', 'Too many ', 'sessions'),
    outcome: 'rate_limited',
  },
  {
    name: 'answers 503 and a limit',
    does: answers('HTTP/1.1 503 x\r\n\r\nRate limit exceeded'),
    outcome: 'rate_limited',
  },
  {
    name: 'answers 500 and a suspended account',
    does: answers('HTTP/1.1 500 x\r\n\r\nYour account is suspended'),
    outcome: REFUSED,
  },
  {
    name: 'answers 504 and a name that is none',
    does: answers('HTTP/1.1 504 x\r\n\r\nCould not resolve host'),
    outcome: 'dns',
  },
  { name: 'answers 200 and closes when it is asked', does: closesWhenAsked, outcome: 'connection_failed' },
];

/** Apart from the others: while they send, what those send in time is read late. */
const ENDLESS: Case[] = [
  { name: 'sends a header without an end', does: endless('HTTP/1.1 200 OK\r\n', 'X-A: aaaaaaaa\r\n'), outcome: FAILED },
  { name: 'sends interim answers without an end', does: endless('', 'HTTP/1.1 102 Wait\r\n\r\n'), outcome: FAILED },
  {
    name: 'refuses with a body without an end',
    does: endless('HTTP/1.1 502 Bad\r\n\r\n', 'x'.repeat(999)),
    outcome: FAILED,
  },
];

/** A ticket for each vendor, all of one router. */
async function ticketsThrough(t: TestContext, cases: Case[], connectSeconds: number) {
  const vendors = await Promise.all(cases.map(({ does }) => startRawTarget(t, does)));
  const country = (index: number) => `A${String.fromCharCode(65 + index)}`;
  const exits = vendors.map(({ address }, index) =>
    exitIn(country(index), {
      provider: 'list',
      upstream: `${cases[index]!.protocol ?? 'http'}://user:pass@${address}`,
    }),
  );
  const router = await startTestRouter(t, { exits, config: { ADSWEEP_CONNECT_TIMEOUT_SECONDS: connectSeconds } });
  const ticketOf = (index: number) => router.ticket({ targeting: targeting({ country_code: country(index) }) });
  return { router, vendors, tickets: await Promise.all(cases.map((_, index) => ticketOf(index))) };
}

for (const [what, cases, connectSeconds] of [
  ['leaves us waiting', SILENT, 0.3],
  ['answers nonsense, or refuses', LOUD, 60],
  ['never stops sending', ENDLESS, 60],
] as const)
  test(`a vendor that ${what} has the right outcome, over http and in a tunnel, and no connection is left`, async (t) => {
    const { router, vendors, tickets } = await ticketsThrough(t, cases, connectSeconds);
    await Promise.all(
      cases.map(async ({ name, outcome }, index) => {
        const ticket = tickets[index]!;
        const { headers } = await request(ticket, 'http://shop.example/');
        assert.equal(headers[GATEWAY_OUTCOME_HEADER], outcome, `${name}, over http`);
        const tunnel = await openTunnel(ticket, 'shop.example:443');
        tunnel.socket.on('error', () => {}).resume();
        tunnel.socket.write('hello');
        await until(`${name}: no connection`, () => vendors[index]!.connections.size === 0);
        const { hosts } = await router.traffic(ticket);
        assert.deepEqual(
          hosts.map((host) => host.outcome),
          [outcome, outcome],
          `${name}, as the ticket records it`,
        );
        tunnel.socket.destroy();
      }),
    );
  });

test('a vendor may send interim answers before the one that counts', async (t) => {
  const does = (socket: Socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n');
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na page'));
    });
  };
  const { tickets } = await ticketsThrough(t, [{ name: 'interim', does, outcome: 'ok' }], 60);
  assert.equal((await request(tickets[0]!, 'http://shop.example/')).body, 'a page');
});

test('a vendor that answers 200 and closes at once leaves a broken connection, and no page', async (t) => {
  const does = closesAfter('HTTP/1.1 200 OK\r\n\r\n');
  const { tickets } = await ticketsThrough(t, [{ name: 'closes', does, outcome: 'connection_failed' }], 60);
  assert.equal((await request(tickets[0]!, 'http://shop.example/')).status, 595);
  const { status, socket } = await openTunnel(tickets[0]!, 'shop.example:443');
  socket.on('error', () => {});
  assert.deepEqual([status, await text(socket)], [200, '']);
});
