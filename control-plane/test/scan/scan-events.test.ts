import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { openBroadcast } from '../../src/platform/broadcast.ts';
import { openRedis, redisReady } from '../../src/platform/redis.ts';
import type { ScanEvent } from '../../src/scan/advance.ts';
import { changeScan } from '../../src/scan/change-scan.ts';
import type { ScanState } from '../../src/scan/scan-state.ts';
import { openStateStream } from '../../src/scanning/scans/api/state-stream.ts';
import { newChildScan } from '../../src/scanning/scans/request/new-child-scan.ts';
import { newScan } from '../../src/scanning/scans/request/new-scan.ts';
import { adBlocks } from '../support/ad-blocks.ts';
import { PRICE_MICROS } from '../support/open-plane.ts';
import { startRedis } from '../support/private-redis.ts';
import { type Json, KEYS, ORGANIZATIONS, PAGE, type RunningApi, runningApi } from '../support/running-api.ts';
import { CATALOGUE } from '../support/sample-catalogue.ts';

/** The events of a stream's text so far. */
const eventsIn = (text: string): Json[] =>
  [...text.matchAll(/^id: (\d+)\nevent: state\ndata: (.*)\n\n/gm)].map(([, number, data]) => ({
    number,
    ...JSON.parse(data!),
  }));

describe('following a scan', () => {
  let api: RunningApi;
  before(async () => {
    api = await runningApi();
  });
  after(() => api.stop());

  const change = async (id: string, event: ScanEvent) => {
    const scan = await api.scans.find(ORGANIZATIONS.ours, id);
    assert.ok(await changeScan(api.scans, scan!, event, new Date()));
  };
  const lease = (fence: number): ScanEvent => ({
    type: 'lease',
    lease: { fence, node_id: 'node', leased_at: new Date() },
  });
  const follow = async (id: string, key = KEYS.ours) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/scans/${id}/events`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const seen = { text: '' };
    const ended = (async () => {
      for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) seen.text += part;
    })();
    const statuses = () => eventsIn(seen.text).map(({ status }) => status);
    return { answer, seen, ended, statuses };
  };

  test('§4.2.21 the stream starts with the current state, sends each change, and ends after a final state', async () => {
    const { body } = await api.post('/api/v1/scans', { ...PAGE, retry_max_attempts: 1 });
    const { answer, seen, ended, statuses } = await follow(body.id);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    await until('the present state', () => statuses().length === 1);
    await change(body.id, lease(1));
    const failure = { type: 'failure' as const, loaded: false, capture: null, exit: null, backoffMs: 0 };
    await change(body.id, { ...failure, fence: 1, code: 'navigation: TIMEOUT' });
    await change(body.id, lease(2));
    await change(body.id, { ...failure, fence: 2, code: 'navigation: TIMEOUT' });
    await ended;
    assert.deepEqual(
      eventsIn(seen.text).map(({ number, status, retry_attempt }) => [number, status, retry_attempt]),
      [
        ['0', 'pending', 0],
        ['1', 'running', 0],
        ['2', 'pending', 1],
        ['3', 'running', 1],
        ['4', 'failed', 1],
      ],
    );
    for (const event of eventsIn(seen.text)) {
      assert.equal(new Date(event.at).toISOString(), event.at);
      assert.deepEqual(Object.keys(event), ['number', 'id', 'status', 'retry_attempt', 'at']);
    }
  });

  test('§4.2.21 a scan whose creator had a clock that is ahead enters no status before its first one', async () => {
    const ahead = new Date(Date.now() + 60_000);
    const options = { organizationId: ORGANIZATIONS.ours, priceMicros: PRICE_MICROS };
    const scan = newScan(PAGE, { id: newId(), country: 'US' }, CATALOGUE, options, ahead);
    await api.scans.insertUnlessExists(scan);
    await change(scan._id, lease(1));
    const leased = await api.scans.find(ORGANIZATIONS.ours, scan._id);
    assert.deepEqual([leased!.status, leased!.status_at], ['running', ahead]);
  });

  test('§4.2.21 the streams of a sweep and of its ads end one by one, each with the final state of its own scan', async () => {
    const { body } = await api.post('/api/v1/scans', { ...PAGE, ad_discovery: true });
    await change(body.id, lease(1));
    const sweep = await api.scans.find(ORGANIZATIONS.ours, body.id);
    const children = adBlocks(1, 2).map((block) => newChildScan(sweep!, block, sweep!.lease!, new Date()));
    for (const child of children) await api.scans.insertUnlessExists(child);
    const [ofSweep, ofFirst, ofSecond] = await Promise.all([sweep!, ...children].map(({ _id }) => follow(_id)));
    await until('the present states', () => [ofSweep, ofFirst, ofSecond].every((one) => one?.statuses().length === 1));
    const failure = { type: 'failure' as const, loaded: true, capture: null, exit: null, backoffMs: 0, fence: 1 };
    for (const { _id } of [sweep!, ...children]) await change(_id, { ...failure, code: 'navigation: DNS' });
    await Promise.all([ofSweep, ofFirst, ofSecond].map((one) => one?.ended));
    for (const one of [ofSweep, ofFirst, ofSecond]) assert.deepEqual(one?.statuses(), ['running', 'failed']);
    assert.equal((await api.get(`/api/v1/scans/${children[0]?._id}/events`, { key: KEYS.theirs })).status, 404);
  });

  test('§4.2.21 the stream of an ended scan contains only the final state', async () => {
    const { body } = await api.post('/api/v1/scans', PAGE);
    await api.post(`/api/v1/scans/${body.id}/cancel`);
    const { ended, statuses } = await follow(body.id);
    await ended;
    assert.deepEqual(statuses(), ['cancelled']);
  });

  test('§5.2 another organization’s scan is 404, and a key without scans.read gets 403', async () => {
    const { body } = await api.post('/api/v1/scans', PAGE);
    const path = `/api/v1/scans/${body.id}/events`;
    assert.equal((await api.get(path, { key: KEYS.theirs })).status, 404);
    assert.equal((await api.get('/api/v1/scans/none/events')).status, 404);
    assert.equal((await api.get(path, { key: await api.keyThatMay('scans.write') })).status, 403);
  });

  test('a disconnected client frees its resources; too many concurrent streams get 503', async () => {
    const { body } = await api.post('/api/v1/scans', PAGE);
    const open = async () => {
      const leave = new AbortController();
      const answer = await fetch(`http://127.0.0.1:${api.port}/api/v1/scans/${body.id}/events`, {
        headers: { authorization: `Bearer ${KEYS.ours}` },
        signal: leave.signal,
      });
      // An answer that nobody holds on to is collected, and its connection closed.
      return { answer, status: answer.status, leave };
    };
    const streams = await Promise.all(Array.from({ length: 100 }, open));
    assert.ok(streams.every(({ status }) => status === 200));
    const refused = await api.get(`/api/v1/scans/${body.id}/events`);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '15']);
    assert.ok(streams.every(({ answer }) => answer.body));
    for (const { leave } of streams) leave.abort();
    await until('room for another', async () => {
      const { status, leave } = await open();
      leave.abort();
      return status === 200;
    });
  });

  test('§4.2.21 a stream ends when its API key is revoked or expires', slow, async () => {
    const { body: scan } = await api.post('/api/v1/scans', PAGE);
    const create = async (sent: object) =>
      (await api.post('/api/v1/account/api-keys', { name: 'follower', permissions: ['scans.read'], ...sent })).body;
    const soon = new Date(Date.now() + 700).toISOString();
    const [revoked, expiring] = [await create({}), await create({ expires_at: soon })];
    const streams = [await follow(scan.id, revoked.full_key), await follow(scan.id, expiring.full_key)];
    const other = await follow(scan.id);
    await until('the present states', () => streams.every(({ statuses }) => statuses().length === 1));
    await api.call('DELETE', `/api/v1/account/api-keys/${revoked.id}`);
    await Promise.all(streams.map(({ ended }) => ended));
    await change(scan.id, lease(9));
    await until('the next state of another key', () => other.statuses().length === 2);
    assert.deepEqual(
      streams.map(({ statuses }) => statuses()),
      [['pending'], ['pending']],
    );
  });
});

const stateOf = (sequence: number, status: ScanState['status']): ScanState => ({
  id: 'scan',
  status,
  retry_attempt: 0,
  at: new Date(sequence).toISOString(),
  sequence,
});

test('a late state is omitted, and a state that arrives while the current one is read is not missed', async () => {
  let tell: (state: ScanState) => void = () => {};
  const watch = async (_: string, receive: typeof tell) => {
    tell = receive;
    return { stop: () => {} };
  };
  const read = async () => {
    tell(stateOf(3, 'checking'));
    return stateOf(2, 'crawled');
  };
  const stream = await openStateStream('scan', watch, read, async () => true, new AbortController().signal);
  tell(stateOf(1, 'running'));
  tell(stateOf(4, 'completed'));
  tell(stateOf(5, 'rechecking'));
  const text = (await stream.setEncoding('utf8').toArray()).join('');
  assert.deepEqual(
    eventsIn(text).map(({ status }) => status),
    ['checking', 'completed'],
  );
});

test('streams end when the process stops', async () => {
  const [closing, stopped] = [new AbortController(), { watching: false }];
  const watch = async () => ({
    stop: () => {
      stopped.watching = true;
    },
  });
  const stream = await openStateStream(
    'scan',
    watch,
    async () => stateOf(0, 'pending'),
    async () => true,
    closing.signal,
  );
  closing.abort();
  await stream.toArray();
  await until('the watching to end', () => stopped.watching);
});

test('a broadcast reaches the listeners of other processes, also after an outage of Redis', async () => {
  const redis = await startRedis();
  const other = openRedis(redis.url, createLogger('test', 'silent'));
  await redisReady(other, 5_000);
  const [sender, receiver] = [openBroadcast(redis.client), openBroadcast(other)];
  const heard: string[] = [];
  const listening = await receiver.listen('topic', (message) => heard.push(message));
  const arrives = (word: string) =>
    until(`${word} to arrive`, () => {
      sender.send('another topic', 'not for us');
      sender.send('topic', `${word} with spaces`);
      return heard.includes(`${word} with spaces`);
    });
  await arrives('first');
  await redis.kill();
  await redis.start();
  await arrives('second');
  receiver.send('topic', 'own');
  assert.equal(heard.at(-1), 'own');
  assert.ok(!heard.includes('not for us'));
  listening.stop();
  receiver.send('topic', 'after');
  assert.equal(heard.includes('after'), false);
  for (const one of [sender, receiver]) one.stop();
  other.disconnect();
  await redis.stop();
});
