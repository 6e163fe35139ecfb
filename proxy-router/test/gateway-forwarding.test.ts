import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { freePort } from '../../shared/test/support/free-port.ts';
import { slow } from '../../shared/test/support/slow.ts';
import { until } from '../../shared/test/support/until.ts';
import { ConnectionFailure } from '../src/providers/connection-failure.ts';
import { openTunnel, proxyAuthorization, request, requestOver, sendRaw, tunnelStatus } from './support/proxy-client.ts';
import { startTestRouter } from './support/router.ts';
import { startRawTarget, startTarget } from './support/target.ts';

const url = 'http://shop.example/';

async function routerTo(t: Parameters<typeof startTestRouter>[0], address: string, config = {}) {
  const router = await startTestRouter(t, { hosts: { 'shop.example': address }, config });
  return { router, ticket: await router.ticket() };
}

test('a page comes through as the target sent it', async (t) => {
  const target = await startTarget(t, (_, response) => {
    response.writeHead(418, 'Short And Stout', { 'Set-Cookie': ['a=1', 'b=2'], 'X-Name': 'tea' });
    response.end('a pot');
  });
  const { ticket } = await routerTo(t, target.address);
  const { status, headers, body } = await request(ticket, `${url}pot?x=1`, {
    headers: { Referer: 'http://paper.example/' },
  });
  assert.deepEqual([status, headers['set-cookie'], headers['x-name'], body], [418, ['a=1', 'b=2'], 'tea', 'a pot']);
  assert.equal(target.seen[0]?.url, '/pot?x=1');
  assert.equal(target.seen[0]?.headers.referer, 'http://paper.example/');
});

test('a posted body arrives whole, with and without a length', async (t) => {
  const target = await startTarget(t, async (incoming, response) => response.end(await text(incoming)));
  const { ticket } = await routerTo(t, target.address);
  const body = 'line\r\n'.repeat(50_000);
  assert.equal(
    (await request(ticket, url, { method: 'POST', body, headers: { 'Content-Length': body.length } })).body,
    body,
  );
  assert.equal(
    (await request(ticket, url, { method: 'POST', body, headers: { 'Transfer-Encoding': 'chunked' } })).body,
    body,
  );
});

test('a body hidden in a GET stays a body: the target is asked once', async (t) => {
  const target = await startTarget(t, async (incoming, response) => response.end(await text(incoming)));
  const { ticket } = await routerTo(t, target.address);
  const hidden = 'GET /admin HTTP/1.1\r\nHost: shop.example\r\n\r\n';
  const { body } = await request(ticket, url, { body: hidden, headers: { 'Transfer-Encoding': 'chunked' } });
  assert.equal(body, hidden);
  assert.deepEqual(
    target.seen.map(({ url }) => url),
    ['/'],
  );
});

test('a request with two lengths is refused', async (t) => {
  const target = await startTarget(t);
  const { ticket } = await routerTo(t, target.address);
  const head = `POST ${url} HTTP/1.1\r\nHost: shop.example\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n`;
  const answer = await sendRaw(ticket, `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x`);
  assert.match(answer, /^HTTP\/1.1 400/);
  assert.equal(target.seen.length, 0);
});

test('the URL says which host is asked, whatever Host says', async (t) => {
  const target = await startTarget(t, (incoming, response) => response.end(incoming.headers.host));
  const { ticket } = await routerTo(t, target.address);
  assert.equal((await request(ticket, url, { headers: { Host: 'other.example' } })).body, 'shop.example');
  assert.equal(
    (await request(ticket, 'http://shop.example:8080/', { headers: { Host: '127.0.0.1' } })).body,
    'shop.example:8080',
  );
});

test('anything but a proxy request is answered 400', async (t) => {
  const { ticket } = await routerTo(t, '127.0.0.1:9');
  const auth = `Proxy-Authorization: ${proxyAuthorization(ticket)}\r\nConnection: close\r\n`;
  for (const line of [
    'GET / HTTP/1.1',
    'GET file:///etc/passwd HTTP/1.1',
    'GET https://shop.example/ HTTP/1.1',
    'CONNECT shop.example HTTP/1.1',
  ]) {
    assert.match(await sendRaw(ticket, `${line}\r\nHost: shop.example\r\n${auth}\r\n`), /^HTTP\/1.1 400/, line);
  }
  assert.match(await sendRaw(ticket, 'not http at all\r\n\r\n'), /^HTTP\/1.1 400/);
});

test('a tunnel forwards bytes in both directions, also those sent together with the CONNECT', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.pipe(socket));
  const { ticket } = await routerTo(t, target.address);
  const { status, socket } = await openTunnel(ticket, 'shop.example:443');
  assert.equal(status, 200);
  const bytes = Buffer.alloc(3_000_000, 'adsweep');
  socket.end(bytes);
  const digest = (of: string | Buffer) => createHash('sha256').update(of).digest('hex');
  assert.equal(digest(await text(socket)), digest(bytes));
  const eager = `CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${proxyAuthorization(ticket)}\r\n\r\nearly`;
  const early = openRaw(ticket.server, eager);
  t.after(() => early.destroy());
  let answer = '';
  early.on('data', (chunk) => {
    answer += chunk;
  });
  await until('the early answer', () => answer.endsWith('early'));
});

function openRaw(server: string, bytes: string): Socket {
  const socket = new http.Agent().createConnection({
    host: new URL(server).hostname,
    port: Number(new URL(server).port),
  }) as Socket;
  socket.write(bytes);
  return socket;
}

test('a target that refuses connections is 594', async (t) => {
  const { router, ticket } = await routerTo(t, `127.0.0.1:${await freePort()}`);
  const { status, headers } = await request(ticket, url);
  assert.deepEqual([status, headers[GATEWAY_OUTCOME_HEADER]], [594, 'connection_refused']);
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 594);
  assert.equal((await router.traffic(ticket)).hosts[0]?.outcome, 'connection_refused');
});

test('a target that hangs up without an answer, or answers no HTTP, is 595', async (t) => {
  const targets = { 'mute.example': (socket: Socket) => void socket.once('data', () => socket.destroy()) };
  const mute = await startRawTarget(t, targets['mute.example']);
  const reset = await startRawTarget(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const noise = await startRawTarget(t, (socket) => void socket.once('data', () => socket.end('220 mail ready\r\n')));
  const router = await startTestRouter(t, {
    hosts: { 'mute.example': mute.address, 'reset.example': reset.address, 'noise.example': noise.address },
  });
  const ticket = await router.ticket();
  for (const host of ['mute.example', 'reset.example', 'noise.example']) {
    const { status, headers } = await request(ticket, `http://${host}/`);
    assert.deepEqual([status, headers[GATEWAY_OUTCOME_HEADER]], [595, 'connection_failed'], host);
  }
  const { hosts } = await router.traffic(ticket);
  assert.deepEqual([...new Set(hosts.map(({ outcome }) => outcome))], ['connection_failed']);
});

test('a target that accepts and never answers is 598, and holds nothing open', async (t) => {
  const target = await startRawTarget(t, (socket) => socket.resume());
  const { router, ticket } = await routerTo(t, target.address, { ADSWEEP_GATEWAY_IDLE_SECONDS: 0.2 });
  const { status, headers } = await request(ticket, url);
  assert.deepEqual([status, headers[GATEWAY_OUTCOME_HEADER]], [598, 'timeout']);
  const { socket } = await openTunnel(ticket, 'shop.example:443');
  socket.resume();
  await until('all connections to be closed', () => socket.destroyed && target.connections.size === 0);
  assert.equal(
    (await router.traffic(ticket)).hosts.every(({ outcome }) => outcome === 'timeout'),
    true,
  );
});

test('a name server or target that takes too long to connect is 598', async (t) => {
  let aborted = 0;
  const provider = {
    resolvesNames: true,
    dial: (_exit: unknown, _to: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(signal.reason);
        });
      }),
  };
  const router = await startTestRouter(t, { provider, config: { ADSWEEP_CONNECT_TIMEOUT_SECONDS: 0.1 } });
  const ticket = await router.ticket();
  assert.equal((await request(ticket, url)).status, 598);
  assert.equal(await tunnelStatus(ticket, 'shop.example:443'), 598);
  assert.equal(aborted, 2);
});

test('a client that leaves while its target is dialled ends the dialling', async (t) => {
  let reason: unknown;
  const provider = {
    resolvesNames: true,
    dial: (_exit: unknown, _to: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
        client.destroy();
      }),
  };
  const router = await startTestRouter(t, { provider });
  const ticket = await router.ticket();
  const auth = `Proxy-Authorization: ${proxyAuthorization(ticket)}\r\n\r\n`;
  const client = openRaw(ticket.server, `GET ${url} HTTP/1.1\r\nHost: x\r\n${auth}`);
  await until('the failure', () => reason instanceof ConnectionFailure && reason.outcome === 'connection_failed');
});

test('a client that leaves a page half read leaves no connection to the target', async (t) => {
  const target = await startTarget(t, (_, response) => void response.write('the beginning'));
  const { ticket } = await routerTo(t, target.address);
  const auth = `Proxy-Authorization: ${proxyAuthorization(ticket)}\r\n\r\n`;
  const client = openRaw(ticket.server, `GET ${url} HTTP/1.1\r\nHost: x\r\n${auth}`);
  await new Promise((resolve) => client.once('data', resolve));
  assert.equal(target.connections.size, 1);
  client.destroy();
  await until('all connections to be closed', () => target.connections.size === 0);
});

test('a page that breaks off breaks off for the browser', async (t) => {
  const target = await startTarget(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': 1_000 });
    response.write('the beginning', () => response.destroy());
  });
  const { ticket } = await routerTo(t, target.address);
  await assert.rejects(request(ticket, url));
});

test('a target cannot pass for the gateway', async (t) => {
  const target = await startTarget(t, (_, response) => {
    response
      .writeHead(593, { [GATEWAY_OUTCOME_HEADER]: 'dns', 'Proxy-Authenticate': 'Basic realm="x"' })
      .end('made up');
  });
  const { router, ticket } = await routerTo(t, target.address);
  const { status, headers, body } = await request(ticket, url);
  assert.deepEqual([status, body], [593, 'made up']);
  assert.equal(headers[GATEWAY_OUTCOME_HEADER], undefined);
  assert.equal(headers['proxy-authenticate'], undefined);
  assert.equal((await router.traffic(ticket)).hosts[0]?.outcome, 'ok');
});

/** Asks for a page of which the target answers each request with the next of these lists of bytes; resolves to what comes back. */
async function answering(t: Parameters<typeof startTestRouter>[0], answers: string[][]) {
  const queue = [...answers];
  const target = await startRawTarget(t, (socket) => {
    socket.once('data', async () => {
      for (const part of queue.shift() ?? []) await new Promise((resolve) => socket.write(part, 'latin1', resolve));
      socket.end();
    });
  });
  const { ticket } = await routerTo(t, target.address);
  const auth = `Proxy-Authorization: ${proxyAuthorization(ticket)}\r\n`;
  return () => sendRaw(ticket, `GET ${url} HTTP/1.1\r\nHost: shop.example\r\n${auth}\r\n`);
}

test('a redirect reaches the browser as the target sent it, whatever headers are around it', async (t) => {
  const redirects: Record<string, string> = {
    'a hop-by-hop Location': 'Connection: location\r\nLocation: http://next.example/',
    'a control character': 'Location: http://next.example/\x01\x7fa',
    'a name that is no token': 'X(a): b\r\nLocation: http://next.example/',
    'a line without a colon': 'x garbage\r\nLocation: http://next.example/',
    'a space before the colon': 'Location : http://next.example/',
    'two equal lengths': 'Content-Length: 0\r\nLocation: http://next.example/',
    'more headers than Node.js reads': `${'X: 1\r\n'.repeat(3_000)}Location: http://next.example/`,
    'as many lines as there can be': `${'a\r\n'.repeat(80_000)}Location: http://next.example/`,
    '200 KB of headers': `X: ${'a'.repeat(200_000)}\r\nLocation: http://next.example/`,
  };
  const answers = Object.values(redirects).map((lines) => [
    `HTTP/1.1 302 Found\r\n${lines}\r\nContent-Length: 0\r\n\r\n`,
  ]);
  const ask = await answering(t, answers);
  for (const [name, lines] of Object.entries(redirects)) {
    const answer = await ask();
    assert.match(answer, /^HTTP\/1\.1 302 Found\r\n/, name);
    for (const line of lines.split('\r\n').filter((one) => /^(location|x)/i.test(one)))
      assert.ok(answer.includes(`\r\n${line}\r\n`), `${name}: ${line.slice(0, 40)}`);
  }
});

test('a head ends where browsers see its end, and begins after interim answers', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nX-Name: tea\r\nContent-Length: 5\r\n\r\nhello';
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  const answers = [
    ['\r\n\r\n', head],
    [head.replaceAll('\r\n', '\n')],
    [...head],
    [interim, head],
    [interim + head.slice(0, 20), head.slice(20)],
  ];
  const ask = await answering(t, answers);
  for (const parts of answers)
    assert.equal(await ask(), head.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), JSON.stringify(parts));
});

test('answers with an odd status, two lengths or none keep their bodies', async (t) => {
  const chunked = '5\r\nhello\r\n0\r\n\r\n';
  const answers: [sent: string, head: string, body: string][] = [
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked',
      chunked,
    ],
    ['HTTP/1.1 200 \x01odd\r\nX-Odd: a\x01b', 'HTTP/1.1 200 \x01odd\r\nX-Odd: a\x01b', 'hello'],
    ['HTTP/1.0 200', 'HTTP/1.0 200', 'hello'],
  ];
  const ask = await answering(
    t,
    answers.map(([sent, , body]) => [`${sent}\r\n\r\n${body}`]),
  );
  for (const [sent, head, body] of answers)
    assert.equal(await ask(), `${head}\r\nConnection: close\r\n\r\n${body}`, sent);
});

test('no target can send the header of the gateway, however it is written', async (t) => {
  const forged = [
    `${GATEWAY_OUTCOME_HEADER.toUpperCase()} : dns`,
    `X: a\r${GATEWAY_OUTCOME_HEADER}: dns`,
    `Connection: x\r\n ${GATEWAY_OUTCOME_HEADER}: dns\r\n${GATEWAY_OUTCOME_HEADER}:\r\n dns`,
  ];
  const ask = await answering(
    t,
    forged.map((line) => [`HTTP/1.1 593 x\r\n${line}\r\nX-Last: 1\r\n\r\n`]),
  );
  for (const line of forged) {
    const answer = await ask();
    assert.match(answer, /\r\nX-Last: 1\r\n/);
    assert.doesNotMatch(answer, new RegExp(`${GATEWAY_OUTCOME_HEADER}|dns`, 'i'), line);
  }
});

test('an answer that is not HTTP, has an impossible status, a hundred interim answers or more than 256 KB of headers is 595', async (t) => {
  const answers = [
    ['220 mail ready\r\n'],
    ['HTTP/1.1 99 odd\r\n\r\n'],
    ['HTTP/1.1 2000 odd\r\n\r\n'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    [`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(101)}HTTP/1.1 200 OK\r\n\r\n`],
    [`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(300_000)}\r\n\r\n`],
    ['HTTP/1.1 200 OK\r\nX: a'],
  ];
  const ask = await answering(t, answers);
  for (const [answer] of answers) {
    const refusal = await ask();
    assert.match(refusal, /^HTTP\/1\.1 595 /, answer?.slice(0, 40));
    assert.ok(refusal.includes(`${GATEWAY_OUTCOME_HEADER}: connection_failed`));
  }
});

const upgrade = (through: Parameters<typeof proxyAuthorization>[0], to: string) =>
  `GET ${to} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${proxyAuthorization(through)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;

test('a plain WebSocket is forwarded once the target agrees', async (t) => {
  const target = await startTarget(t);
  target.server.on('upgrade', (incoming, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${incoming.headers.upgrade}\r\n\r\nhello`,
    );
    socket.pipe(socket);
  });
  const { router, ticket } = await routerTo(t, target.address);
  const client = openRaw(ticket.server, upgrade(ticket, `${url}feed`));
  t.after(() => client.destroy());
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
  });
  await until('the upgrade', () => received.endsWith('\r\n\r\nhello'));
  assert.match(received, /^HTTP\/1.1 101 /);
  client.write('ping');
  await until('the echo', () => received.endsWith('ping'));
  client.destroy();
  await until('all connections to be closed', () => target.connections.size === 0);
  assert.equal((await router.traffic(ticket)).requests[0]?.url, 'http://shop.example/feed');
});

test(
  'the answer of a target that declines the WebSocket is forwarded, and the connection serves nothing after it',
  slow,
  async (t) => {
    const target = await startTarget(t, (_, response) => response.writeHead(404).end('no feed'));
    const { ticket } = await routerTo(t, target.address);
    const answer = await sendRaw(ticket, upgrade(ticket, url) + upgrade(ticket, `${url}second`));
    assert.match(answer, /^HTTP\/1.1 404 [\s\S]*no feed/);
    assert.deepEqual(
      target.seen.map((seen) => [seen.url, seen.headers['proxy-authorization']]),
      [['/', undefined]],
    );
    assert.match(await sendRaw(ticket, upgrade(ticket, 'http://127.0.0.1/')), /^HTTP\/1.1 591/);
  },
);

test('an http page over a tunnel works as over any connection', async (t) => {
  const target = await startTarget(t);
  const { ticket } = await routerTo(t, target.address);
  const { socket } = await openTunnel(ticket, 'shop.example:80');
  assert.match(await requestOver(socket, 'shop.example'), /a page/);
});
