import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../shared/test/support/until.ts';
import { type CrawlQueue, crawlQueue, startPromoting } from '../../src/crawling/queue/queue.ts';
import { shardKeys } from '../../src/crawling/queue/queue-shards.ts';
import { exclusiveWork } from '../../src/platform/exclusive-work.ts';
import { openRedis, type RedisClient, redisReady } from '../../src/platform/redis.ts';
import type { WakeTopic } from '../../src/platform/wake-hub.ts';
import { openWakeHub, type WakeHub } from '../../src/platform/wake-hub.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { hintsWithoutPoll, takeWhenWoken } from '../support/wake-by-hint.ts';

/** Longer than any test: whoever waits so long is woken by a hint or not at all. */
const LONG_MS = 600_000;

/**
 * Lets `count` wait that only a hint wakes: the hub is known to have someone who waits, and has no earlier call for
 * them.
 */
async function waitAt(hub: WakeHub, topic: WakeTopic, count: number) {
  for (let calls = 0; calls < 70; calls += 1) await hub.signal(topic).wait(0);
  return Array.from({ length: count }, () => {
    let isWoken = false;
    const woken = hub.signal(topic).wait(LONG_MS);
    void woken.then(() => {
      isWoken = true;
    });
    return { woken, isWoken: () => isWoken };
  });
}

describe('two processes on one Redis', () => {
  let redis: PrivateRedis;
  let other: RedisClient;
  let hubs: [WakeHub, WakeHub];
  const queuesOf = ([here, there]: [WakeHub, WakeHub]) =>
    [
      crawlQueue(redis.client, { wake: hintsWithoutPoll(here) }),
      crawlQueue(other, { wake: hintsWithoutPoll(there) }),
    ] as const;
  const connected = () => until('both hubs to be connected', () => hubs.every((hub) => hub.isConnected()));
  before(async () => {
    redis = await startRedis();
    other = openRedis(redis.url, createLogger('test', 'silent'));
    await redisReady(other, 5_000);
    hubs = [openWakeHub(redis.client), openWakeHub(other)];
    await connected();
  });
  after(async () => {
    for (const hub of hubs) hub.stop();
    other.disconnect();
    await redis.stop();
  });

  it('wake as many of each other’s waiting loops as there is work', async () => {
    const waiting = await waitAt(hubs[1], 'checks', 3);
    for (const _ of waiting) hubs[0].announce('checks');
    await Promise.all(waiting.map(({ woken }) => woken));
  });

  it('replace the list of waiting processes if it is of another type', async () => {
    const list = 'adsweep:waiting:outbox';
    for (const use of [() => hubs[0].announce('outbox'), () => void hubs[1].signal('outbox').wait(0)]) {
      await redis.client.del(list);
      await redis.client.set(list, 'a text');
      await until('the text to be removed', async () => {
        use();
        return (await redis.client.type(list)) !== 'string';
      });
    }
  });

  it('wake one waiting loop per piece of work, those of the own process first', async () => {
    const third = openWakeHub(other);
    await until('the third hub to be connected', () => third.isConnected());
    const [here] = await waitAt(hubs[0], 'checks', 1);
    const there = [...(await waitAt(hubs[1], 'checks', 2)), ...(await waitAt(third, 'checks', 1))];
    const count = () => there.filter(({ isWoken }) => isWoken()).length;

    hubs[0].announce('checks');
    await here!.woken;
    for (let expected = 1; expected <= 3; expected += 1) {
      hubs[0].announce('checks');
      await until('another one to be woken', () => count() >= expected);
      await Promise.all([redis.client.ping(), other.ping()]);
      assert.equal(count(), expected);
    }
    third.stop();
  });

  it('forward a hint to another process if no loop waits any more, and not to a stopped process', async () => {
    const [idle, gone] = [openWakeHub(other), openWakeHub(other)];
    await until('the hubs to be connected', () => idle.isConnected() && gone.isConnected());
    for (const hub of [idle, gone]) await hub.signal('outbox').wait(0);
    gone.stop();
    const listening = async () => (await redis.client.pubsub('CHANNELS', 'adsweep:wake:*')).length;
    await until('its connection to be gone', async () => (await listening()) === 3);
    for (let round = 0; round < 3; round += 1) {
      const [waiting] = await waitAt(hubs[1], 'outbox', 1);
      await idle.signal('outbox').wait(0);
      hubs[0].announce('outbox');
      await waiting!.woken;
    }
    idle.stop();
  });

  it('do not wake every waiting node for each job', async (t) => {
    const stopping = new AbortController();
    t.after(() => stopping.abort());
    let [looks, taken] = [0, 0];
    const queues = queuesOf(hubs);
    const node = async (queue: CrawlQueue, name: string) => {
      while (!stopping.signal.aborted) {
        const refs = await queue.take(name, 1, 32);
        looks += 1;
        taken += refs.length;
        if (refs.length === 0) await queue.waitForWork(LONG_MS, stopping.signal);
      }
    };
    const nodes = Array.from({ length: 20 }, (_, n) => node(queues[n % 2]!, `node-${n}`));
    const waiting = () => hubs.reduce((sum, hub) => sum + hub.signal('jobs').waiting(), 0);
    await until('all nodes to wait', () => waiting() === nodes.length);
    const before = looks;
    for (let n = 0; n < 30; n += 1) {
      await queues[0].enqueue({ jobId: `one-${n}`, organizationId: 'organization', priority: 0, delayMs: 0 });
      await until('the job to be taken', () => taken === n + 1);
    }
    stopping.abort();
    await Promise.all(nodes);
    assert.ok(looks - before < 300, `${looks - before} looks of 20 nodes for 30 jobs`);
  });

  it('find work that was announced while the connection was down', async () => {
    const [waiting] = await waitAt(hubs[1], 'outbox', 1);
    await redis.kill();
    hubs[0].announce('outbox');
    await redis.start();
    await waiting!.woken;
    await connected();
    await redisReady(other, 5_000);
  });

  it('lease a job to a node that polls one process when the other one enqueues it', async () => {
    const [here, there] = queuesOf(hubs);
    const taken = takeWhenWoken(there, 'node/1');
    await until('the node to wait', () => hubs[1].signal('jobs').waiting() === 1);
    await here.enqueue({ jobId: 'scan', organizationId: 'organization', priority: 0, delayMs: 0 });
    assert.equal((await taken).ref.jobId, 'scan');
  });

  it('lease a delayed job when it is due, whichever process enqueued it', async (t) => {
    const [here, there] = queuesOf(hubs);
    await here.enqueue({ jobId: 'later', organizationId: 'organization', priority: 0, delayMs: 60_000 });
    const taken = takeWhenWoken(there, 'node/2');
    await until('the node to wait', () => hubs[1].signal('jobs').waiting() === 1);
    await redis.client.zadd(shardKeys(0).delayed, 'XX', 1, 'later');
    const promoting = startPromoting({ queue: here, logger: createLogger('test', 'silent') });
    t.after(() => promoting.stop());
    const { ref, looks } = await taken;
    assert.equal(ref.jobId, 'later');
    assert.ok(looks <= 5, `${looks} looks for one job`);
  });

  it('do exclusive work one at a time, and the other takes over after a release', async () => {
    const [first, second] = [exclusiveWork(redis.client, 'work', LONG_MS), exclusiveWork(other, 'work', LONG_MS)];
    assert.equal(await first.run(async () => 'done'), 'done');
    assert.equal(await second.run(async () => 'done'), undefined);
    assert.equal(await first.run(async () => 'again'), 'again');
    await first.stop();
    assert.equal(await second.run(async () => 'done'), 'done');
  });

  it('both do exclusive work while Redis is unavailable', async () => {
    const turns = exclusiveWork(other, 'work', LONG_MS);
    await redis.kill();
    assert.equal(await turns.run(async () => 'done'), 'done');
    await redis.start();
  });
});
