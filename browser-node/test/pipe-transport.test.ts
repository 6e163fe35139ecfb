import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { PipeTransport } from '../src/browser/pipe-transport.ts';
import type { ProtocolMessage } from '../src/browser/protocol-message.ts';
import { SchemeGuard } from '../src/browser/scheme-guard.ts';
import { Conditions } from './support/conditions.ts';

const MIB = 1024 * 1024;

/** A transport between a Chromium that a test plays, and a Playwright that keeps what it gets. */
class Pipe extends Conditions {
  readonly toChromium = new PassThrough();
  readonly fromChromium = new PassThrough({ highWaterMark: 256 * MIB });
  readonly transport = new PipeTransport(
    this.toChromium,
    this.fromChromium,
    [new SchemeGuard()],
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

test('messages come whole and in order, however they are cut', async () => {
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

test('what no capture reads is dropped while it arrives, at any length', async () => {
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

test('long strings of an event are cut, those of an answer are not', async () => {
  const pipe = new Pipe();
  const url = `http://x.example/${'x'.repeat(100_000)}`;
  pipe.say(event('Runtime.consoleAPICalled', { type: 'debug', args: [{ type: 'string', value: url }] }));
  pipe.say({ id: 1, result: { url } });
  await pipe.until(() => pipe.received.length === 2);
  assert.deepEqual(pipe.received[0]?.params?.args, [{ type: 'string', value: url.slice(0, 16_384) }]);
  assert.equal(pipe.received[1]?.result?.url, url);
});

test('a message beyond all bounds ends the connection, and none after it is delivered', async () => {
  const pipe = new Pipe();
  pipe.fromChromium.write('{"id":1,"result":{"data":"');
  for (let mib = 0; mib < 65; mib += 1) pipe.fromChromium.write(Buffer.alloc(MIB, 'x'));
  await pipe.until(() => pipe.closedFor !== '');
  assert.deepEqual(pipe.received, []);
  assert.ok(pipe.transport.closed && pipe.toChromium.writableEnded);
});

test('nothing more is read while 64 MiB wait to be delivered', async () => {
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

test('what is no JSON, and a handler that throws, end the connection and not the process', async () => {
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

test('a session of our own, and those beneath it, are kept from Playwright', async () => {
  const pipe = new Pipe();
  const attaching = pipe.transport.own.attach(5_000);
  await pipe.until(() => pipe.sent.length === 1);
  assert.equal(pipe.sent[0]?.method, 'Target.attachToBrowserTarget');
  pipe.say({ id: pipe.sent[0]?.id, result: { sessionId: 'OWN' } });
  const session = await attaching;
  const heard: unknown[] = [];
  session.listen((method, _params, sessionId) => {
    heard.push([method, sessionId]);
    if (method === 'Network.dataReceived') throw new Error('a fault of the listener');
  });
  pipe.say({ ...event('Target.attachedToTarget', { sessionId: 'CHILD' }), sessionId: 'OWN' });
  pipe.say({ ...event('Network.dataReceived', {}), sessionId: 'CHILD' });
  pipe.say({ ...event('Network.dataReceived', {}), sessionId: 'OTHER' });
  await pipe.until(() => pipe.received.length === 1);
  assert.deepEqual(heard, [
    ['Target.attachedToTarget', undefined],
    ['Network.dataReceived', 'CHILD'],
  ]);
  assert.equal(pipe.received[0]?.sessionId, 'OTHER');
  const refused = assert.rejects(session.command('Network.enable', {}, 5_000, 'CHILD'), /no such session/);
  pipe.say({ id: pipe.sent.at(-1)?.id, error: { message: 'no such session' } });
  await refused;
  const cut = assert.rejects(session.command('Network.enable', {}, 5_000, 'CHILD'), /the browser is gone/);
  pipe.fromChromium.destroy();
  await cut;
});

test('an intercepted request for a file is failed, in place of being continued', async () => {
  const pipe = new Pipe();
  for (const [requestId, url] of [
    ['1', 'file:///etc/passwd'],
    ['2', 'https://x.example/'],
  ])
    pipe.say({ ...event('Fetch.requestPaused', { requestId, request: { url } }), sessionId: 'S' });
  await pipe.until(() => pipe.received.length === 2);
  for (const requestId of ['1', '2'])
    pipe.transport.send({ id: 1, method: 'Fetch.continueRequest', params: { requestId }, sessionId: 'S' });
  await pipe.until(() => pipe.sent.length === 2);
  assert.deepEqual(
    pipe.sent.map(({ method }) => method),
    ['Fetch.failRequest', 'Fetch.continueRequest'],
  );
});
