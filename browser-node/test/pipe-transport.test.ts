import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../shared/test/support/slow.ts';
import type { ProtocolMessage } from '../src/browser/cdp-messages.ts';
import { PipeTransport } from '../src/browser/pipe-transport.ts';
import { RequestGuard } from '../src/browser/request-guard.ts';
import { Conditions } from './support/conditions.ts';

const MIB = 1024 * 1024;
const CREDENTIALS = new Map([['S', { username: 'ticket-1', password: 'secret' }]]);

/** A transport between a fake Chromium and a fake Playwright that records its messages. */
class Pipe extends Conditions {
  readonly toChromium = new PassThrough();
  readonly fromChromium = new PassThrough({ highWaterMark: 256 * MIB });
  readonly transport = new PipeTransport(
    this.toChromium,
    this.fromChromium,
    [
      new RequestGuard(
        (sessionId) => CREDENTIALS.get(sessionId) ?? null,
        () => null,
        () => undefined,
        () => [],
      ),
    ],
    createLogger('test', 'silent'),
  );
  readonly received: ProtocolMessage[] = [];
  readonly sent: ProtocolMessage[] = [];
  closedFor = '';

  constructor() {
    super();
    this.transport.onmessage = (message) => {
      this.received.push(message);
      this.changed();
    };
    this.transport.onclose = (reason) => {
      this.closedFor = reason ?? '';
      this.changed();
    };
    this.toChromium.on('data', (bytes: Buffer) => {
      for (const text of String(bytes).split('\0').filter(Boolean)) this.sent.push(JSON.parse(text));
      this.changed();
    });
  }

  say(message: ProtocolMessage): void {
    this.fromChromium.write(`${JSON.stringify(message)}\0`);
  }
}

const event = (method: string, params: Record<string, unknown>): ProtocolMessage => ({ method, params });

test('messages arrive whole and in order, regardless of how they are split', async () => {
  const pipe = new Pipe();
  const bytes = Buffer.from(
    [1, 2, 3].map((id) => `${JSON.stringify({ id, result: { text: 'ä'.repeat(200) } })}\0`).join(''),
  );
  for (let at = 0; at < bytes.length; at += 7) pipe.fromChromium.write(bytes.subarray(at, at + 7));
  await pipe.until(() => pipe.received.length === 3);
  assert.deepEqual(
    pipe.received.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.equal(pipe.received[2]?.result?.text, 'ä'.repeat(200));
});

test('messages that no capture reads are dropped while they arrive, at any length', async () => {
  const pipe = new Pipe();
  pipe.fromChromium.write('{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"value":"');
  for (let mib = 0; mib < 100; mib += 1) pipe.fromChromium.write(Buffer.alloc(MIB, 'x'));
  pipe.fromChromium.write('"}]}}\0');
  const unread = ['Runtime.exceptionThrown', 'Log.entryAdded', 'Network.webSocketFrameSent'];
  for (const method of unread) pipe.say(event(method, { text: 'x'.repeat(100) }));
  pipe.say(event('Page.loadEventFired', {}));
  await pipe.until(() => pipe.received.length > 0);
  assert.deepEqual(
    pipe.received.map(({ method }) => method),
    ['Page.loadEventFired'],
  );
});

test('long strings of an event are truncated, those of a response are not', async () => {
  const pipe = new Pipe();
  const url = `http://x.example/${'x'.repeat(100_000)}`;
  pipe.say(event('Page.windowOpen', { args: [{ type: 'string', value: url }] }));
  pipe.say({ id: 1, result: { url } });
  await pipe.until(() => pipe.received.length === 2);
  assert.deepEqual(pipe.received[0]?.params?.args, [{ type: 'string', value: url.slice(0, 16_384) }]);
  assert.equal(pipe.received[1]?.result?.url, url);
});

test('an event larger than 4 MiB is dropped', async () => {
  const pipe = new Pipe();
  pipe.say(event('Network.requestWillBeSent', { url: 'x'.repeat(5 * MIB) }));
  pipe.say(event('Page.loadEventFired', {}));
  await pipe.until(() => pipe.received.length > 0);
  assert.deepEqual(
    pipe.received.map(({ method }) => method),
    ['Page.loadEventFired'],
  );
});

test('a message beyond the size limit ends the connection, and no later one is delivered', async () => {
  const pipe = new Pipe();
  pipe.fromChromium.write('{"id":1,"result":{"data":"');
  for (let mib = 0; mib < 65; mib += 1) pipe.fromChromium.write(Buffer.alloc(MIB, 'x'));
  await pipe.until(() => pipe.closedFor !== '');
  assert.deepEqual(pipe.received, []);
  assert.ok(pipe.transport.closed && pipe.toChromium.writableEnded);
});

test('a response to a command of ours that a page made too large is dropped while it arrives, and only its command fails', async () => {
  const pipe = new Pipe();
  for (const method of ['DOMSnapshot.captureSnapshot', 'Page.getNavigationHistory', 'Page.captureScreenshot']) {
    const taking = pipe.transport.own.command(method, {}, 5_000, 'PAGE');
    const refused = assert.rejects(taking, { name: 'ResponseTooLargeError', message: /the response was too large$/ });
    const sent = pipe.sent.length;
    await pipe.until(() => pipe.sent.length > sent);
    pipe.fromChromium.write(`{"id":${pipe.sent.at(-1)?.id},"result":{"text":"`);
    for (let mib = 0; mib < 100; mib += 1) pipe.fromChromium.write(Buffer.alloc(MIB, 'x'));
    pipe.fromChromium.write('"},"sessionId":"PAGE"}\0');
    await refused;
  }
  pipe.say(event('Page.loadEventFired', {}));
  await pipe.until(() => pipe.received.length > 0);
  assert.equal(pipe.closedFor, '');
});

test('the pipe is not read while 64 MiB wait to be delivered', slow, async () => {
  const pipe = new Pipe();
  const padding = 'x'.repeat(MIB);
  for (let id = 0; id < 100; id += 1) pipe.say({ id: id + 1, result: { padding } });
  let mostUnread = 0;
  pipe.fromChromium.on('pause', () => {
    mostUnread = Math.max(mostUnread, pipe.fromChromium.readableLength);
  });
  await pipe.until(() => pipe.received.length === 100);
  assert.ok(mostUnread > 30 * MIB, `${mostUnread} bytes stayed in the pipe`);
});

test('invalid JSON or a throwing handler ends the connection and not the process', async () => {
  const garbled = new Pipe();
  garbled.fromChromium.write('{"id":1,\0');
  await garbled.until(() => garbled.closedFor !== '');
  const broken = new Pipe();
  broken.transport.onmessage = () => {
    throw new Error('a fault of the handler');
  };
  broken.say({ id: 1 });
  await broken.until(() => broken.closedFor !== '');
});

test('responses to our own commands do not reach Playwright', async () => {
  const pipe = new Pipe();
  const { own } = pipe.transport;
  const answered = own.command('DOM.enable', {}, 5_000, 'TAB');
  const refused = assert.rejects(own.command('Network.enable', {}, 5_000, 'TAB'), /no such session/);
  await pipe.until(() => pipe.sent.length === 2);
  assert.deepEqual(
    pipe.sent.map(({ method, sessionId }) => `${method} ${sessionId}`),
    ['DOM.enable TAB', 'Network.enable TAB'],
  );
  pipe.say({ id: pipe.sent[0]?.id, result: { done: true }, sessionId: 'TAB' });
  pipe.say({ id: pipe.sent[1]?.id, error: { message: 'no such session' } });
  pipe.say({ ...event('Network.dataReceived', {}), sessionId: 'TAB' });
  assert.deepEqual(await answered, { done: true });
  await refused;
  await pipe.until(() => pipe.received.length === 1);
  assert.equal(pipe.received[0]?.method, 'Network.dataReceived');
  const cut = assert.rejects(own.command('Network.enable', {}, 5_000, 'TAB'), /the browser is gone/);
  pipe.fromChromium.destroy();
  await cut;
});

/** A message of a session with this many bytes that has no listener. */
const unread = (method: string, sessionId: string, bytes: number): ProtocolMessage => ({
  ...event(method, { type: 'log', text: 'x'.repeat(bytes) }),
  sessionId,
});

test('endless script output is reported with its session for every 8 MiB, and network data are not', async () => {
  const pipe = new Pipe();
  const flooding: string[] = [];
  pipe.transport.onflood = (sessionId) => flooding.push(sessionId);
  for (let n = 0; n < 7; n += 1) {
    pipe.say(unread('Runtime.consoleAPICalled', 'LOUD', 2.5 * MIB));
    pipe.say(unread('Network.webSocketFrameReceived', 'STREAM', 2.5 * MIB));
    if (n < 3) pipe.say(unread('Runtime.exceptionThrown', 'QUIET', 2.5 * MIB));
  }
  pipe.say(event('Page.loadEventFired', {}));
  await pipe.until(() => pipe.received.length === 1);
  assert.deepEqual(flooding, ['LOUD']);
  pipe.say(unread('Runtime.consoleAPICalled', 'LOUD', 2.5 * MIB));
  pipe.say(event('Page.loadEventFired', {}));
  await pipe.until(() => pipe.received.length === 2);
  assert.deepEqual(flooding, ['LOUD', 'LOUD']);
});

test('a session that tries 10,000 times to navigate a page that it must not is reported, and its attempts are delivered', async () => {
  const pipe = new Pipe();
  const flooding: string[] = [];
  pipe.transport.onflood = (sessionId) => flooding.push(sessionId);
  const text = 'Unsafe attempt to initiate navigation for frame';
  const refusal = event('Log.entryAdded', { entry: { source: 'javascript', level: 'error', text } });
  for (let n = 0; n <= 10_000; n += 1) pipe.say({ ...refusal, sessionId: n < 9_000 || n % 2 ? 'AD' : 'OTHER' });
  await pipe.until(() => pipe.received.length === 10_001);
  assert.deepEqual(flooding, []);
  for (let n = 0; n < 501; n += 1) pipe.say({ ...refusal, sessionId: 'AD' });
  await pipe.until(() => flooding.length > 0);
  assert.deepEqual(flooding, ['AD']);
});

test('a session with more than 2 MiB of long headers, or 16 MiB of long requests, is reported once, and its traffic is delivered', async () => {
  const pipe = new Pipe();
  const flooding: string[] = [];
  pipe.transport.onflood = (sessionId) => flooding.push(sessionId);
  const answer = (sessionId: string, cookies: number) => ({
    ...event('Network.responseReceivedExtraInfo', { headersText: 'set-cookie: x\r\n'.repeat(cookies) }),
    sessionId,
  });
  for (let n = 0; n < 100; n += 1) pipe.say(answer('COMMON', 3_000));
  for (let n = 0; n < 30; n += 1) pipe.say(answer('LONG', 6_000));
  await pipe.until(() => pipe.received.length === 130);
  assert.deepEqual(flooding, ['LONG']);
  const url = `http://x.example/${'x'.repeat(3_000_000)}`;
  for (let n = 0; n < 12; n += 1)
    pipe.say({ ...event('Network.requestWillBeSent', { url }), sessionId: n < 5 ? 'SOME' : 'MANY' });
  await pipe.until(() => pipe.received.length === 142);
  assert.deepEqual(flooding, ['LONG', 'MANY']);
});

test('a session that makes more than twice the requests that a capture keeps is reported once, and no more of its traffic is delivered', async () => {
  const pipe = new Pipe();
  const flooding: string[] = [];
  pipe.transport.onflood = (sessionId) => flooding.push(sessionId);
  const of = (sessionId: string, method: string) => ({ ...event(method, {}), sessionId });
  const kinds = ['requestWillBeSent', 'webSocketCreated', 'webTransportCreated'];
  for (let n = 0; n < 2 * REQUEST_URLS_MAX + 500; n += 1) pipe.say(of('MANY', `Network.${kinds[n % kinds.length]}`));
  for (const method of ['Network.loadingFinished', 'Page.loadEventFired']) pipe.say(of('MANY', method));
  pipe.say(of('FEW', 'Network.requestWillBeSent'));
  await pipe.until(() => pipe.received.at(-1)?.sessionId === 'FEW');
  assert.deepEqual(flooding, ['MANY']);
  assert.deepEqual(
    pipe.received.slice(2 * REQUEST_URLS_MAX).map(({ method }) => method),
    ['Page.loadEventFired', 'Network.requestWillBeSent'],
  );
});

test('the deadline of a command is extended while unread messages delay its response, up to four times', async (t) => {
  const pipe = new Pipe();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const holdUp = async (mib: number) => {
    const before = pipe.received.length;
    pipe.say(unread('Runtime.consoleAPICalled', 'LOUD', mib * MIB));
    pipe.say(event('Page.loadEventFired', {}));
    await pipe.until(() => pipe.received.length > before);
    t.mock.timers.tick(1_000);
  };
  const command = () => pipe.transport.own.command('Runtime.evaluate', {}, 1_000);
  const answered = command();
  await holdUp(17);
  pipe.say({ id: pipe.sent[0]?.id, result: { value: 1 } });
  assert.deepEqual(await answered, { value: 1 });

  const silent = assert.rejects(command(), /took longer than 1000 ms/);
  await holdUp(1);
  await silent;
  const endless = assert.rejects(command(), /took longer than 1000 ms/);
  for (let time = 0; time < 4; time += 1) await holdUp(17);
  await endless;
});

test('without request routing, a paused request for a file fails at once and any other continues', async () => {
  const pipe = new Pipe();
  const pause = (requestId: string, url: string) =>
    pipe.say({ ...event('Fetch.requestPaused', { requestId, request: { url } }), sessionId: 'S' });
  pause('1', 'file:///etc/passwd');
  pause('2', 'https://x.example/');
  await pipe.until(() => pipe.sent.length === 2);
  pipe.transport.send({ id: 1, method: 'Fetch.enable', params: {}, sessionId: 'S' });
  pause('3', 'https://x.example/');
  pause('4', 'file:///etc/passwd');
  await pipe.until(() => pipe.received.length === 1 && pipe.sent.length === 4);
  assert.deepEqual(
    pipe.sent.map(({ method, params }) => [method, params?.requestId]),
    [
      ['Fetch.failRequest', '1'],
      ['Fetch.continueRequest', '2'],
      ['Fetch.enable', undefined],
      ['Fetch.failRequest', '4'],
    ],
  );
  assert.equal(pipe.received[0]?.params?.requestId, '3');
});

test('a target of a context pauses only documents and non-web URLs, and bypasses the cache', async () => {
  const pipe = new Pipe();
  pipe.transport.send({ id: 1, method: 'Network.enable', sessionId: 'S' });
  pipe.transport.send({ id: 2, method: 'Fetch.disable', sessionId: 'S' });
  pipe.transport.send({ id: 3, method: 'Network.setCacheDisabled', params: { cacheDisabled: false }, sessionId: 'S' });
  pipe.transport.send({ id: 4, method: 'Network.enable', sessionId: 'OF NO CONTEXT' });
  await pipe.until(() => pipe.sent.length === 6);
  const said = pipe.sent.map(({ method, params }) => [method, params?.cacheDisabled ?? params?.handleAuthRequests]);
  const [enable, uncached, guarded] = [
    ['Network.enable', undefined],
    ['Network.setCacheDisabled', true],
    ['Fetch.enable', true],
  ];
  assert.deepEqual(said, [enable, uncached, guarded, guarded, uncached, enable]);
  const patterns = pipe.sent[2]?.params?.patterns as { urlPattern: string; resourceType?: string }[];
  assert.deepEqual(
    patterns.filter(({ urlPattern }) => /^(\*|http)/.test(urlPattern)),
    [{ urlPattern: '*', resourceType: 'Document' }],
  );
  for (const { id } of pipe.sent) pipe.say({ id, sessionId: 'S', result: {} });
  await pipe.until(() => pipe.received.length === 4);
  assert.deepEqual(
    pipe.received.map(({ id }) => id),
    [1, 2, 3, 4],
  );
});

test('the challenge of a proxy is answered once per request, and that of a site never', async () => {
  const pipe = new Pipe();
  const challenge = (requestId: string, source: string) =>
    pipe.say({ ...event('Fetch.authRequired', { requestId, authChallenge: { source } }), sessionId: 'S' });
  for (const [requestId, source] of [
    ['1', 'Proxy'],
    ['1', 'Proxy'],
    ['2', 'Server'],
    ['3', 'Proxy'],
  ] as const)
    challenge(requestId, source);
  await pipe.until(() => pipe.sent.length === 4);
  const provided = { response: 'ProvideCredentials', username: 'ticket-1', password: 'secret' };
  assert.deepEqual(
    pipe.sent.map(({ params }) => params?.authChallengeResponse),
    [provided, { response: 'CancelAuth' }, { response: 'Default' }, provided],
  );
  assert.deepEqual(pipe.received, []);
});

test('messages sent in one iteration of the event loop are one write, in order', async () => {
  const writes: string[] = [];
  const toChromium = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      writes.push(String(bytes));
      done();
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  const transport = new PipeTransport(toChromium, new PassThrough(), [], createLogger('test', 'silent'));
  for (const id of [1, 2, 3]) transport.send({ id });
  await Promise.resolve();
  transport.send({ id: 4 });
  transport.close();
  await finished(toChromium);
  assert.deepEqual(writes, ['{"id":1}\0{"id":2}\0{"id":3}\0{"id":4}\0']);
});
