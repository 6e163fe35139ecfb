import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { until } from '../../../../shared/test/support/until.ts';
import { type NodeIdentity, newIdentity } from '../../../src/crawling/fleet/credentials.ts';
import { acquire } from '../../../src/crawling/leases/acquire.ts';
import { leaseRoutes } from '../../../src/crawling/node-api/lease-routes.ts';
import { type CrawlQueue, crawlQueue } from '../../../src/crawling/queue/queue.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import { singleProcessHints } from '../../../src/platform/wake-hub.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { captureOf, isLeaseLost, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

import { REPORT } from '../../support/simulated-node.ts';
import { hintsWithoutPoll } from '../../support/wake-by-hint.ts';

const CHAIN = ['https://shop.example/'];

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

describe('a lease', () => {
  it('accepts one capture, and answers 204 again if it is repeated because the response was lost', async () => {
    const lease = await farm.leased();
    const capture = captureOf(CHAIN);
    await Promise.all([farm.node.complete(lease, capture), farm.node.complete(lease, capture)]);
    await farm.node.complete(lease, capture);
    const scan = await farm.read(lease.scan_id);
    assert.equal(scan.status, 'crawled');
    assert.ok((await farm.farm.evidenceOf(scan)).landings.length === 1);
    await assert.rejects(farm.node.fail(lease, { code: 'browser: CRASHED', cause: '', capture: null }), isLeaseLost);
    assert.ok(
      (await farm.farm.evidenceOf(scan)).landings.length === 1,
      'a failure reported afterwards takes nothing away',
    );
  });

  it('is for a node that waits, also while one that has all it may have waits for longer', {
    timeout: 20_000,
  }, async () => {
    const hints = singleProcessHints();
    const queue = crawlQueue(farm.redis.client, { wake: hintsWithoutPoll(hints) });
    const { waiting } = hints.signal('jobs');
    const gone = new AbortController();
    const poll = (node: NodeIdentity) =>
      acquire({ ...farm.farm.dependencies, queue }, { node, max: 1, wait_ms: 60_000 }, gone.signal);
    const [full, free] = [newIdentity('full', 1), newIdentity('free', 1)];
    await farm.submit();
    assert.equal((await poll(full)).length, 1);
    const ended = poll(full);
    const given = poll(free);
    await until('the free one to wait', () => waiting() > 0);
    const { _id } = await farm.submit();
    hints.announce('jobs');
    assert.deepEqual(
      (await given).map(({ job }) => job.job_id),
      [_id],
    );
    gone.abort();
    assert.deepEqual(await ended, []);
  });

  it('can be released before its job starts, so that another node can acquire it at once', async () => {
    const lease = await farm.leased();
    await farm.node.release(lease);
    const again = await farm.acquireOne();
    assert.equal(again.scan_id, lease.scan_id);
    assert.equal(again.job.members[0]?.attempt, 0);
    await farm.node.complete(again, captureOf(CHAIN));
  });

  it('is queued again after a pause from the 21st time on that a node releases its scan, which uses up no retry', async () => {
    const first = await farm.leased();
    await farm.store.collection<ScanRecord>('scans').updateOne({ _id: first.scan_id }, { $set: { releases: 19 } });
    await farm.node.release(first);
    const again = await farm.acquireOne();
    assert.equal(again.scan_id, first.scan_id, 'the 20th time it is due at once');
    const before = Date.now();
    await farm.node.release(again);
    const { status, releases, retry_attempt, lost_requeues, due_at } = await farm.read(first.scan_id);
    assert.deepEqual([status, releases, retry_attempt, lost_requeues], ['pending', 21, 0, 0]);
    assert.ok(due_at.getTime() >= before + 1_000, 'a second at least');
    await assert.rejects(farm.acquireOne(), /no work/);
  });

  it('is released at once when the node disconnects before it receives the lease', async () => {
    const scan = await farm.submit();
    const { dependencies } = farm.farm;
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    const takeOrFull: CrawlQueue['takeOrFull'] = async (...asked) => {
      socket.destroyed = true;
      return dependencies.queue.takeOrFull(...asked);
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, takeOrFull } });
    const acquire = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('gone', 1), lease: null };
    const request = { caller, body: { node_id: 'gone', max: 1, wait_ms: 0 }, stream: { socket } };
    const answer = await acquire?.handle(request as never);
    assert.deepEqual(answer?.body, { leases: [] });
    assert.equal((await farm.acquireOne()).scan_id, scan._id);
  });

  it('is released at once when the node disconnects before its answer was written', { timeout: 30_000 }, async () => {
    const value = `<p>${'x'.repeat(450_000)}</p>`;
    const scans = await Promise.all(
      Array.from({ length: 32 }, () => farm.submit({ target: { kind: 'ad_tag', value } })),
    );
    const { credential } = await farm.node.report('unread', { ...REPORT, slots: 32 });
    const body = JSON.stringify({ node_id: 'unread', max: 32, wait_ms: 0 });
    const { hostname, port } = new URL(farm.baseUrl);
    const socket = connect(Number(port), hostname, () => {
      const head = [
        'POST /node/v1/leases/acquire HTTP/1.1',
        `Host: ${hostname}`,
        `Authorization: Bearer ${credential}`,
      ];
      socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'));
    });
    // The answer has begun to arrive; nothing more of it is read.
    socket.once('data', () => socket.pause().destroy());
    const released = () => farm.value('adsweep_leases_total', { outcome: 'released' });
    const before = await released();
    await once(socket, 'close');
    await until('each scan to wait again', async () =>
      (await Promise.all(scans.map(({ _id }) => farm.read(_id)))).every(
        ({ status, lost_requeues }) => status === 'pending' && lost_requeues === 0,
      ),
    );
    assert.equal((await released()) - before, 32);
  });

  it('is granted although the scan of another one that was taken with it cannot be read', async () => {
    await farm.submit({ target: { kind: 'ad_tag', value: '<p>lost</p>' } });
    const whole = await farm.submit();
    await farm.store.collection('scan_targets').deleteMany({});
    const { leases } = await farm.node.acquire({ node_id: 'node-1', max: 2, wait_ms: 0 });
    assert.deepEqual(
      leases.map(({ job }) => job.job_id),
      [whole._id],
    );
  });

  it('is released at once when it cannot be read whether its node is blocked', async () => {
    const scan = await farm.submit();
    const has = () => Promise.reject(new Error('the store does not answer'));
    const routes = leaseRoutes({ ...farm.farm.dependencies, blocked: { has } });
    const acquire = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('one', 1), lease: null };
    const stream = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const request = { caller, body: { node_id: 'one', max: 1, wait_ms: 0 }, stream };
    await assert.rejects(async () => acquire?.handle(request as never), /the store does not answer/);
    assert.equal((await farm.acquireOne()).scan_id, scan._id);
  });

  it('is not granted for a scan that was cancelled while it waited or while its retry was delayed', async () => {
    const scan = await farm.submit();
    const unqueue = async () => {};
    await farm.cancel(scan._id, unqueue);
    await assert.rejects(farm.acquireOne(), /no work/);
    assert.equal(await farm.redis.client.exists(shardKeys(0).job(scan._id)), 0, 'its job is forgotten');

    const lease = await farm.leased({ retry_max_attempts: 1 });
    await farm.node.fail(lease, { code: 'browser: CRASHED', cause: '', capture: null });
    await farm.cancel(lease.scan_id, unqueue);
    await farm.makeDue(lease.scan_id);
    await assert.rejects(farm.acquireOne(), /no work/);
    assert.equal((await farm.node.renew(lease)).outcome, 'cancelled');
  });

  it('is not ended by cancelling its scan', async () => {
    const lease = await farm.leased();
    assert.equal(await farm.cancel(lease.scan_id), false);
    await farm.node.complete(lease, captureOf(CHAIN));
  });
});
