import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Acquired, Registered } from '@adsweep/shared/lease/messages.ts';
import { createDomains } from '../../../src/compose/domains.ts';
import { newIdentity } from '../../../src/crawling/fleet/credentials.ts';
import { markedNodes, NODES_MAX, nodes as nodesIn } from '../../../src/crawling/fleet/nodes.ts';
import { leaseRoutes } from '../../../src/crawling/node-api/lease-routes.ts';
import type { CrawlQueue } from '../../../src/crawling/queue/queue.ts';
import { NEXT_NODE_TOKEN, NODE_TOKEN } from '../../support/open-plane.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';
import { REPORT } from '../../support/simulated-node.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const call = (method: string, path: string, credential: string, body: unknown) =>
  fetch(`${farm.baseUrl}/node/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}` },
    body: JSON.stringify(body),
  });
const reportAs = (nodeId: string, credential: string, slots = 4) =>
  call('PUT', `/nodes/${nodeId}`, credential, { ...REPORT, slots });
async function register(nodeId: string, slots = 4, joinToken = NODE_TOKEN): Promise<string> {
  const answer = await reportAs(nodeId, joinToken, slots);
  assert.equal(answer.status, 200);
  return ((await answer.json()) as Registered).credential;
}
const acquire = (nodeId: string, credential: string) =>
  call('POST', '/leases/acquire', credential, { node_id: nodeId, max: 32, wait_ms: 0 });
async function leasesOf(nodeId: string, credential: string) {
  const answer = await acquire(nodeId, credential);
  assert.equal(answer.status, 200);
  const { leases } = (await answer.json()) as Acquired;
  return leases.map((lease) => ({ ...lease, scan_id: lease.job.job_id }));
}
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];
const submit = (count: number) => Promise.all(Array.from({ length: count }, () => farm.submit()));

describe('the fleet', () => {
  it('has at most a thousand processes: further ones are refused until one of the others is silent', async () => {
    const first = await register('first');
    let now = new Date();
    const { nodes } = farm.farm;
    const { report } = nodesIn(farm.redis.client, async () => now);
    for (let at = 1; at < NODES_MAX; at += 1)
      assert.ok(await report({ nodeId: `node-${at}`, instance: 'one' }, REPORT));
    const refused = await reportAs('one-more', NODE_TOKEN);
    assert.deepEqual(await codeOf(refused), [503, 'unavailable']);
    assert.equal((await reportAs('first', first)).status, 200, 'a report of a known one is taken');
    assert.equal((await nodes.list()).length, NODES_MAX);

    now = new Date(Date.now() + 31_000);
    assert.ok(await report({ nodeId: 'node-1', instance: 'two' }, REPORT));
    assert.deepEqual(
      (await nodesIn(farm.redis.client, async () => now).list()).map(({ id, instance }) => `${id}/${instance}`),
      ['node-1/two'],
    );

    now = new Date(now.getTime() - 3_600_000);
    assert.deepEqual(
      await nodesIn(farm.redis.client, async () => now).list(),
      [],
      'nor one from before the clock was set back',
    );
  });

  it('keeps a node that reports while its last report, which is too old, is removed', async () => {
    const { client } = farm.redis;
    const late = { nodeId: 'late', instance: 'one' };
    let now = new Date();
    const clock = async () => now;
    const { report } = nodesIn(client, clock);
    await report(late, REPORT);
    now = new Date(now.getTime() + 31_000);
    const hgetall = async (key: string) => {
      const texts = await client.hgetall(key);
      await report(late, REPORT);
      return texts;
    };
    await nodesIn(Object.create(client, { hgetall: { value: hgetall } }), clock).list();
    assert.deepEqual(
      (await nodesIn(client, clock).list()).map(({ id }) => id),
      ['late'],
    );
  });

  it('is read although the reports in Redis are of another type or cannot be read', async () => {
    const key = '{nodes}:reports';
    await farm.redis.client.set(key, 'a text');
    assert.equal((await reportAs('one', NODE_TOKEN)).status, 503);
    const credential = await register('one');
    assert.equal((await reportAs('one', credential)).status, 200);
    await farm.redis.client.hset(key, { broken: '{' });
    assert.deepEqual(
      (await farm.farm.nodes.list()).map(({ id }) => id),
      ['one'],
    );
  });
});

describe('a node', () => {
  it('registers with the join token, and from then on is accepted only with its own credential', async () => {
    const credential = await register('one');
    assert.equal((await acquire('one', NODE_TOKEN)).status, 401);
    assert.equal((await acquire('one', credential)).status, 200);
    const again = await reportAs('one', credential);
    assert.deepEqual(await again.json(), { credential, drain: false }, 'a report is no new registration');
    for (const wrong of ['wrong', `${credential}x`, credential.replace('/4/', '/9/'), credential.replace('one', 'two')])
      assert.equal((await acquire('one', wrong)).status, 401);
  });

  it('cannot act under the name of another node', async () => {
    const credential = await register('one');
    assert.deepEqual(await codeOf(await acquire('two', credential)), [403, 'forbidden']);
    assert.deepEqual(await codeOf(await reportAs('two', credential)), [403, 'forbidden']);
  });

  it('is leased no more jobs than it has slots, even if it asks repeatedly', async () => {
    const credential = await register('one', 2);
    await submit(4);
    const answers = await Promise.all([leasesOf('one', credential), leasesOf('one', credential)]);
    const [first, ...others] = answers.flat();
    assert.equal(others.length, 1);
    await reportAs('one', credential, 200);
    assert.deepEqual(await leasesOf('one', credential), [], 'a report gives no more slots');
    await farm.node.complete(first!, captureOf(['https://shop.example/']));
    assert.equal((await leasesOf('one', credential)).length, 1);
  });

  it('keeps its leases when a second process registers its name, and a restarted node is accepted at once', async () => {
    const first = await register('one', 2);
    await submit(4);
    const leases = await leasesOf('one', first);
    const second = await register('one', 2);
    assert.notEqual(second, first);
    assert.equal((await leasesOf('one', second)).length, 2);
    assert.deepEqual(await leasesOf('one', first), []);
    for (const lease of leases) assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    await farm.node.complete(leases[0]!, captureOf(['https://shop.example/']));
    assert.equal((await reportAs('one', first)).status, 200);
  });

  it('continues when its join token is withdrawn, with which no node can register any more', async () => {
    const credential = await register('one');
    await register('two', 4, NEXT_NODE_TOKEN);
    const { admit: admitNode } = createDomains(farm.parts, {
      ...farm.parts,
      joinTokens: NEXT_NODE_TOKEN,
    }).crawling.verbs;
    assert.equal((await admitNode(`Bearer ${credential}`, 'node', {})).node?.nodeId, 'one');
    assert.equal((await admitNode(`Bearer ${credential}`, 'join', { id: 'one' })).node?.nodeId, 'one');
    assert.equal((await admitNode(`Bearer ${NEXT_NODE_TOKEN}`, 'join', { id: 'new' })).node, null);
    for (const token of [NODE_TOKEN, `${NODE_TOKEN},${NEXT_NODE_TOKEN}`, ''])
      await assert.rejects(admitNode(`Bearer ${token}`, 'join', { id: 'new' }), /neither a join token/);
  });
});

describe('the reports of nodes', () => {
  it('are not removed by a control plane whose clock is ahead', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 600_000 });
    await farm.farm.nodes.report(newIdentity('punctual', 4), REPORT);
    t.mock.timers.setTime(Date.now() + 600_000);
    const names = (await farm.farm.nodes.list()).map(({ id }) => id);
    assert.ok(names.includes('punctual'));
  });
});

describe('a node that the operator blocks', () => {
  it('gets 403, its scans are queued again at once, and it works again when it is unblocked', async () => {
    const [blocked, other] = [await register('blocked'), await register('other')];
    const [scan] = await submit(1);
    const [lease] = await leasesOf('blocked', blocked);
    assert.ok(scan && lease);
    await farm.farm.blockNode('blocked');
    await farm.farm.blockNode('blocked');

    const { status, lost_requeues } = await farm.read(scan._id);
    assert.deepEqual([status, lost_requeues], ['pending', 0]);
    for (const answer of [
      await acquire('blocked', blocked),
      await reportAs('blocked', blocked),
      await reportAs('blocked', NODE_TOKEN),
    ])
      assert.deepEqual(await codeOf(answer), [403, 'node.blocked']);
    assert.equal((await farm.node.renew(lease)).outcome, 'lost');
    assert.deepEqual(
      (await leasesOf('other', other)).map(({ scan_id }) => scan_id),
      [scan._id],
    );

    await farm.farm.unblockNode('blocked');
    assert.equal((await acquire('blocked', blocked)).status, 200);
  });

  it('keeps no lease that was being granted at the same time', async () => {
    const [scan] = await submit(1);
    const { dependencies } = farm.farm;
    const takeOrFull: CrawlQueue['takeOrFull'] = async (...asked) => {
      await farm.farm.blockNode('blocked');
      return dependencies.queue.takeOrFull(...asked);
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, takeOrFull } });
    const route = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('blocked', 1), lease: null };
    const body = { node_id: 'blocked', max: 1, wait_ms: 0 };
    const request = { caller, body, stream: { socket: new EventEmitter() } };
    await assert.rejects(async () => route?.handle(request as never), { code: 'node.blocked' });
    assert.equal((await farm.read(scan!._id)).status, 'pending');
    await farm.farm.unblockNode('blocked');
  });
});

describe('a node that the operator drains', () => {
  it('§4.6.3 may run its attempts to their end, and the drain says when that is', async () => {
    const credential = await register('busy');
    const none = Date.now();
    const idle = await farm.farm.drainNode('busy');
    assert.ok(idle.getTime() >= none && idle.getTime() <= Date.now());
    await farm.farm.undrainNode('busy');
    await submit(1);
    await farm.submit({ job_kind: 'vast_tag' });
    assert.equal((await leasesOf('busy', credential)).length, 2);
    const until = await farm.farm.drainNode('busy');
    await farm.farm.undrainNode('busy');
    assert.ok(until.getTime() >= none + 180_000 && until.getTime() <= Date.now() + 180_000);
  });

  it('§4.6.3 learns of it in the responses to its reports, in every process with its name, until it is undrained', async () => {
    const isToDrain = async (credential: string) =>
      ((await (await reportAs('drained', credential)).json()) as Registered).drain;
    const credential = await register('drained');
    assert.equal(await isToDrain(credential), false);
    await farm.farm.drainNode('drained');
    await farm.farm.drainNode('drained');
    assert.equal(await isToDrain(credential), true);
    assert.equal(await isToDrain(NODE_TOKEN), true, 'a restarted one');
    assert.equal(((await (await reportAs('another', NODE_TOKEN)).json()) as Registered).drain, false);
    await farm.redis.client.flushall();
    assert.equal(await isToDrain(credential), true, 'Redis need not remember it');
    await farm.farm.undrainNode('drained');
    assert.equal(await isToDrain(credential), false);
  });

  it('§4.6.3 gets no lease once the drain is acknowledged, and its long poll ends', async () => {
    const credential = await register('polling');
    const { dependencies } = farm.farm;
    const waitForWork: CrawlQueue['waitForWork'] = async (_, gone) => {
      const ended = once(gone!, 'abort');
      await farm.farm.drainNode('polling');
      await ended;
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, waitForWork } });
    const route = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('polling', 1), lease: null };
    const stream = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const body = { node_id: 'polling', max: 1, wait_ms: 3_600_000 };
    assert.deepEqual((await route?.handle({ caller, body, stream } as never))?.body, { leases: [], drain: true });
    const poll = async () => (await (await acquire('polling', credential)).json()) as Acquired;
    const scan = await farm.submit();
    assert.deepEqual(await poll(), { leases: [], drain: true });
    assert.equal((await farm.read(scan._id)).status, 'pending');
    await farm.farm.undrainNode('polling');
    assert.equal((await poll()).leases.length, 1);
  });

  it('§4.6.3 keeps no lease that was taken while the drain was being written', async () => {
    const scan = await farm.submit();
    const { dependencies } = farm.farm;
    const takeOrFull: CrawlQueue['takeOrFull'] = async (...asked) => {
      await farm.farm.drainNode('late');
      return dependencies.queue.takeOrFull(...asked);
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, takeOrFull } });
    const route = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('late', 1), lease: null };
    const stream = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const answer = await route?.handle({ caller, body: { node_id: 'late', max: 1, wait_ms: 0 }, stream } as never);
    assert.deepEqual(answer?.body, { leases: [], drain: true });
    assert.equal((await farm.read(scan._id)).status, 'pending');
    await farm.farm.undrainNode('late');
  });

  it('§4.6.3 gets no lease either from a process that does not see the drain of another one yet', async () => {
    const credential = await register('elsewhere');
    const scan = await farm.submit();
    assert.equal((await reportAs('elsewhere', credential)).status, 200);
    await markedNodes(farm.store, 'draining_nodes').add('elsewhere', new Date());
    const answer = (await (await acquire('elsewhere', credential)).json()) as Acquired;
    assert.deepEqual(answer, { leases: [], drain: true });
    assert.equal((await farm.read(scan._id)).status, 'pending');
    await farm.farm.undrainNode('elsewhere');
  });

  it('costs one query a second for all nodes, however often they ask', async () => {
    let queries = 0;
    const collection = (name: string) => {
      const whole = farm.store.collection(name);
      const find = (...of: Parameters<typeof whole.find>) => {
        queries += 1;
        return whole.find(...of);
      };
      return Object.assign(Object.create(whole), { find });
    };
    const marked = markedNodes({ ...farm.store, collection } as never, 'draining_nodes');
    await Promise.all(Array.from({ length: 500 }, (_, at) => marked.hasLately(`node-${at}`)));
    assert.equal(queries, 1);
    await marked.add('node-1', new Date());
    assert.equal(await marked.hasLately('node-1'), true, 'a mark by this process is seen at once');
    await marked.remove('node-1');
    assert.equal(await marked.hasLately('node-1'), false);
    assert.equal(queries, 3);
  });
});
