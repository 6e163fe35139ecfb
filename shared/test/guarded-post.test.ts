import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { Resolve } from '../src/egress/checked-addresses.ts';
import { EgressError } from '../src/egress/egress-error.ts';
import { EgressPolicy } from '../src/egress/egress-policy.ts';
import { type GuardedRequest, guardedPost } from '../src/egress/guarded-post.ts';

const LOOPBACK = new EgressPolicy(['127.0.0.0/8'], []);
const PUBLIC_ONLY = new EgressPolicy([], []);

async function serve(t: TestContext, listener: RequestListener): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = http.createServer(listener).on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

function sender(t: TestContext, policy: EgressPolicy, resolve?: Resolve) {
  const guarded = guardedPost(policy, resolve && { resolve });
  t.after(() => guarded.close());
  return (url: string, more: Partial<GuardedRequest> = {}) =>
    guarded.post({ url, headers: { 'content-type': 'application/json' }, body: '{}', timeoutMs: 5_000, ...more });
}

const failsWith = (code: EgressError['code']) => (error: unknown) =>
  error instanceof EgressError && error.code === code;

describe('a guarded POST', () => {
  it('sends the body and returns the answer, over one connection for several requests', async (t) => {
    const bodies: string[] = [];
    const { port, connections } = await serve(t, async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.writeHead(202, { 'retry-after': '7' }).end('taken');
    });
    const post = sender(t, LOOPBACK);
    for (const body of ['{"a":"€"}', '[]']) {
      const { elapsedMs, ...answer } = await post(`http://127.0.0.1:${port}/hook?a=1`, { body });
      assert.deepEqual(answer, { status: 202, body: 'taken', retryAfter: '7' });
      assert.ok(elapsedMs >= 0);
    }
    assert.deepEqual([bodies, connections()], [['{"a":"€"}', '[]'], 1]);
  });

  it('does not give up an address for the next one while this process is busy', async (t) => {
    const { port } = await serve(t, (_request, response) => response.end('taken'));
    const busy = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    const resolve = async () => {
      // Once the connection was begun.
      process.nextTick(busy);
      return ['127.0.0.1', '127.0.0.2'];
    };
    assert.equal((await sender(t, LOOPBACK, resolve)(`http://hooks.example:${port}/`)).body, 'taken');
  });

  it('returns redirects and does not follow them', async (t) => {
    let requests = 0;
    const { port } = await serve(t, (_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    assert.equal((await sender(t, LOOPBACK)(`http://127.0.0.1:${port}/`)).status, 302);
    assert.equal(requests, 1);
  });

  it('dials no address that the policy refuses, in whatever form the URL has it', async (t) => {
    const { port, connections } = await serve(t, (_request, response) => response.end());
    const post = sender(t, PUBLIC_ONLY, async () => ['127.0.0.1']);
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      'name.example',
    ];
    for (const host of hosts)
      for (const protocol of ['http', 'https'])
        await assert.rejects(post(`${protocol}://${host}:${port}/`), failsWith('blocked_address'), host);
    assert.equal(connections(), 0);
  });

  it('dials nothing where one address of a name is refused, and without TLS only networks of the operator', async (t) => {
    const { port, connections } = await serve(t, (_request, response) => response.end());
    const answers = new Map([
      ['mixed.example', ['127.0.0.1', '169.254.169.254']],
      ['public.example', ['8.8.8.8']],
    ]);
    const post = sender(t, LOOPBACK, async (name) => answers.get(name) ?? []);
    for (const name of answers.keys())
      await assert.rejects(post(`http://${name}:${port}/`), failsWith('blocked_address'), name);
    await assert.rejects(post(`http://none.example:${port}/`), failsWith('dns'));
    assert.equal(connections(), 0);
  });

  it('dials the address that it checked, although the name has another one a moment later', async (t) => {
    const { port } = await serve(t, (_request, response) => response.end('first'));
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const post = sender(t, LOOPBACK, async () => answers[asked++]!);
    assert.equal((await post(`http://rebinding.example:${port}/`)).body, 'first');
    assert.equal(asked, 1);
  });

  it('verifies certificates', async (t) => {
    const read = (file: string) => readFileSync(new URL(`../../infra/demo/test-certificate/${file}`, import.meta.url));
    const selfSigned = { key: read('private-key.pem'), cert: read('certificate.pem') };
    const server = https.createServer(selfSigned, (_request, response) => response.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    await assert.rejects(sender(t, LOOPBACK)(`https://127.0.0.1:${port}/`), failsWith('tls'));
  });

  it('reads 64 KB of an endless answer, keeps 2 KB, and closes the connection', async (t) => {
    let closed = Promise.resolve<unknown>(null);
    const { port } = await serve(t, (_request, response) => {
      closed = once(response, 'close');
      const write = () => {
        while (response.write('x'.repeat(1_000)));
        response.once('drain', write);
      };
      write();
    });
    const answer = await sender(t, LOOPBACK)(`http://127.0.0.1:${port}/`);
    assert.deepEqual([answer.status, answer.body], [200, 'x'.repeat(2_048)]);
    await closed;
  });

  it('ends in time: without an answer, within one, and when it is told to', async (t) => {
    const { port } = await serve(t, (request, response) => {
      if (request.url === '/slow') response.writeHead(200).write('begun');
    });
    const post = sender(t, LOOPBACK);
    for (const path of ['/silent', '/slow'])
      await assert.rejects(post(`http://127.0.0.1:${port}${path}`, { timeoutMs: 50 }), failsWith('timeout'), path);
    const stopping = new AbortController();
    const posting = post(`http://127.0.0.1:${port}/silent`, { signal: stopping.signal });
    stopping.abort(new Error('told to stop'));
    await assert.rejects(posting, /told to stop/);
  });

  it('sends again what a server has closed a connection on that was idle, and nothing that it closed a new one on', async (t) => {
    const onConnection = new Map<object, number>();
    let isRefusing = false;
    const { port, connections } = await serve(t, (request, response) => {
      const before = onConnection.get(request.socket) ?? 0;
      onConnection.set(request.socket, before + 1);
      if (before > 0 || isRefusing) request.socket.destroy();
      else response.end('taken');
    });
    const post = sender(t, LOOPBACK);
    for (let turn = 0; turn < 3; turn++) assert.equal((await post(`http://127.0.0.1:${port}/`)).body, 'taken');
    assert.equal(connections(), 3);
    isRefusing = true;
    await assert.rejects(post(`http://127.0.0.1:${port}/`), failsWith('connect'));
    assert.equal(connections(), 4);
  });

  it('says that no connection could be made, or that it was closed without an answer', async (t) => {
    const server = createTcpServer((socket) => socket.destroy());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const post = sender(t, LOOPBACK);
    await assert.rejects(post(`http://127.0.0.1:${port}/`), /closed before an answer came/);
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(post(`http://127.0.0.1:${port}/`), failsWith('connect'));
  });
});

it('a client may give https URLs of public hosts, and any URL in networks of the operator', () => {
  const refusals = (policy: EgressPolicy, urls: string[]) => urls.map((url) => policy.refusalOf(url));
  const secure = ['https://hooks.example/a', 'https://8.8.8.8/', 'https://[2606:4700::1111]/'];
  assert.deepEqual(refusals(PUBLIC_ONLY, secure), [null, null, null]);
  const inside = [
    'https://127.0.0.1/',
    'https://localhost/',
    'https://metadata.google.internal/',
    'https://[fe80::1]/',
  ];
  assert.deepEqual(refusals(PUBLIC_ONLY, inside), Array(4).fill('blocked_address'));
  const plain = ['http://hooks.example/', 'http://8.8.8.8/'];
  assert.deepEqual(refusals(PUBLIC_ONLY, plain), ['not_https', 'not_https']);
  const noUrls = ['ftp://hooks.example/', 'https://user:pass@hooks.example/', 'hooks.example', 'https://'];
  assert.deepEqual(refusals(PUBLIC_ONLY, noUrls), Array(4).fill('not_a_url'));
  const ours = ['http://127.0.0.1:9000/', 'https://127.0.0.2/', 'http://receiver:9000/', 'http://8.8.8.8/'];
  assert.deepEqual(refusals(LOOPBACK, ours), [null, null, null, 'not_https']);
});
