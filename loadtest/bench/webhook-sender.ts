import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@adsweep/shared/ids.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { type FlowJob, FlowProducer, Worker } from 'bullmq';
import { startDispatchingEvents } from '../../control-plane/src/delivery/webhooks/dispatch-events.ts';
import { EVENT_TYPES, type EventBody } from '../../control-plane/src/delivery/webhooks/event-types.ts';
import { signedHeaders } from '../../control-plane/src/delivery/webhooks/send-event.ts';
import { openRedis, redisReady } from '../../control-plane/src/platform/redis.ts';
import { createWakeSignal } from '../../control-plane/src/platform/wake-signal.ts';
import { queueEvents, WEBHOOK_SECRET } from '../../control-plane/test/support/queued-events.ts';
import { exchange } from './measure-process.ts';
import { openDispatcher } from './webhook-dispatcher.ts';

/**
 * Sends the three events of each of some scans to each of some endpoints, as a process of its own with an IPC channel: `webhook-sender.ts
 * <adsweep|bare|bullmq> <url of the receiver> <endpoints> <scans>`. Everything is queued before it begins.
 */
const [subject = '', receiver = '', endpoints = '1', scans = '1'] = process.argv.slice(2);
const urls = Array.from({ length: Number(endpoints) }, (_, at) => `${receiver}/ok/${at}`);
const expected = urls.length * Number(scans) * EVENT_TYPES.length;
/** Deliveries of an endpoint in flight. */
const WIDTH = 32;
const WEEK_SECONDS = 7 * 24 * 60 * 60;
const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));

type Prepared = { send: () => Promise<void>; end: () => Promise<void> };

/** The bodies of the events of a scan, in their order. */
const bodiesOf = (scanId: string): EventBody[] =>
  EVENT_TYPES.map(({ sample }) => ({ ...sample, data: { ...sample.data, scan_id: scanId } }));

const agent = new http.Agent({ keepAlive: true, maxSockets: WIDTH * urls.length });

/** One signed POST; the status and the text of the answer. */
async function signedPost(url: string, eventId: string, text: string): Promise<{ status: number; body: string }> {
  const headers = {
    ...signedHeaders(eventId, text, [WEBHOOK_SECRET], new Date()),
    'content-length': Buffer.byteLength(text),
  };
  const request = http.request(url, { agent, method: 'POST', headers });
  request.end(text);
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const body = Buffer.concat(await answer.toArray()).toString();
  if (answer.statusCode !== 204) throw new Error(`the receiver answered ${answer.statusCode}`);
  return { status: answer.statusCode, body };
}

/** Our dispatcher, with the embedded store. */
async function adsweep(): Promise<Prepared> {
  const { store, parts, close } = await openDispatcher(folder, (post) => post);
  await queueEvents(store, parts.secrets, { organizationId: 'organization', urls, scans: Number(scans) });
  let left = expected;
  let ended = () => {};
  const isOver = new Promise<void>((resolve) => {
    ended = resolve;
  });
  // Counted when a delivery is written.
  const webhookDeliveries = { inc: () => --left === 0 && ended() };
  const metrics = { ...parts.metrics, webhookDeliveries } as unknown as typeof parts.metrics;
  return {
    async send() {
      const loop = startDispatchingEvents({ ...parts, metrics }, createWakeSignal());
      await isOver;
      await loop.stop();
    },
    end: close,
  };
}

/** A loop of signed POSTs, as many at once, of which nothing is written down. */
async function bare(): Promise<Prepared> {
  const send = async () => {
    let next = 0;
    const worker = async () => {
      while (next < expected) {
        const at = next++;
        const body = bodiesOf(newId())[at % EVENT_TYPES.length];
        await signedPost(urls[at % urls.length]!, newId(), JSON.stringify(body));
      }
    };
    await Promise.all(Array.from({ length: WIDTH * urls.length }, worker));
  };
  return { send, end: async () => {} };
}

/**
 * A sender on BullMQ with the same guarantees: Redis syncs each write, an endpoint has a queue and a worker of its own, the events of a scan are a
 * chain of jobs, failures are tried again with a growing pause, and what has ended is kept for a week with its answer.
 */
async function bullmq(): Promise<Prepared> {
  const socket = join(folder, 'redis.sock');
  const server = spawn(
    'redis-server',
    [
      '--port',
      '0',
      '--unixsocket',
      socket,
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ],
    { stdio: 'ignore' },
  );
  const opened = openRedis(`unix://${socket}`, createLogger('bench', 'silent'));
  await redisReady(opened, 10_000);
  const connect = () =>
    opened.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true, commandTimeout: 60_000 });
  const flows = new FlowProducer({ connection: connect() });
  const opts = {
    ...{ attempts: 30, backoff: { type: 'exponential', delay: 5_000 } },
    ...{ removeOnComplete: { age: WEEK_SECONDS }, removeOnFail: { age: WEEK_SECONDS } },
    ignoreDependencyOnFailure: true,
  };
  const chain = (queueName: string, url: string): FlowJob =>
    bodiesOf(newId()).reduce<FlowJob | null>((before, body) => {
      const data = { url, eventId: newId(), text: JSON.stringify(body) };
      return { name: body.type, queueName, data, opts, ...(before && { children: [before] }) };
    }, null)!;
  for (const [at, url] of urls.entries())
    for (let from = 0; from < Number(scans); from += 100)
      await flows.addBulk(
        Array.from({ length: Math.min(100, Number(scans) - from) }, () => chain(`endpoint-${at}`, url)),
      );
  let left = expected;
  let ended = () => {};
  const isOver = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const workers = urls.map((_, at) => {
    const work = ({ data: { url, eventId, text } }: { data: { url: string; eventId: string; text: string } }) =>
      signedPost(url, eventId, text);
    const options = { connection: connect(), concurrency: WIDTH, autorun: false };
    const worker = new Worker(`endpoint-${at}`, work, options);
    worker.on('completed', () => --left === 0 && ended());
    worker.on('error', () => undefined);
    return worker;
  });
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return {
    async send() {
      for (const worker of workers) void worker.run();
      await isOver;
    },
    async end() {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await flows.close();
      opened.disconnect();
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
    },
  };
}

const SUBJECTS: Record<string, () => Promise<Prepared>> = { adsweep, bare, bullmq };
const { send, end } = await SUBJECTS[subject]!();
await exchange({});
const began = performance.now();
await send();
await exchange({ seconds: (performance.now() - began) / 1000 });
await end();
agent.destroy();
rmSync(folder, { recursive: true, force: true });
process.exit();
