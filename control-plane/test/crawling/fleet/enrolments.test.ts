import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { LeaseClient, NodeApiError } from '@adsweep/shared/lease/client.ts';
import { openExitSession } from '@adsweep/shared/lease/exit-session.ts';
import { nodeOfRouterPass } from '@adsweep/shared/lease/router-pass.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { newIdentity, nodeCredential } from '../../../src/crawling/fleet/credentials.ts';
import { type Enrolment, hashCredential, NODE_CREDENTIAL_MS } from '../../../src/crawling/fleet/enrolments.ts';
import { PROCESSES_OF_ENROLLED_MAX } from '../../../src/crawling/fleet/nodes.ts';
import { revokeNode } from '../../../src/crawling/leases/order-node.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { admitNode } from '../../../src/crawling/node-api/admit-node.ts';
import { leaseRoutes } from '../../../src/crawling/node-api/lease-routes.ts';
import type { CrawlQueue } from '../../../src/crawling/queue/queue.ts';
import type { ApiError } from '../../../src/http/api-error.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';
import { REPORT } from '../../support/simulated-node.ts';

const HOUR_MS = 3_600_000;
const inAnHour = () => new Date(Date.now() + HOUR_MS);
const is401 = (error: unknown) => error instanceof NodeApiError && error.status === 401;

describe('an enrolled node', () => {
  let farm: RunningFarm;
  before(async () => {
    farm = await runningFarm();
  });
  after(() => farm.stop());

  const enrolments = () => farm.farm.dependencies.enrolments;
  const revoke = (name: string) => revokeNode(farm.farm.dependencies, name, new Date());
  const anyone = () => new LeaseClient(farm.baseUrl, '');
  const as = (credential: string) => new LeaseClient(farm.baseUrl, credential);
  const poll = (node: LeaseClient, name: string, wait_ms = 0) => node.acquire({ node_id: name, max: 1, wait_ms });
  const change = (name: string, $set: Partial<Enrolment>) =>
    farm.store.collection<Enrolment>('node_enrolments').updateOne({ _id: name }, { $set });

  /** Enrols a node and registers a process of it. */
  async function enrolled(name: string) {
    const token = await enrolments().invite(name, inAnHour());
    const credential = `credential of ${name}`.replaceAll(' ', '-');
    await anyone().enrol(name, token, hashCredential(credential));
    const node = as(credential);
    await node.report(name, REPORT);
    return { token, credential, node };
  }

  it('has used its token alone, however many exchange it at the same moment', async () => {
    const token = await enrolments().invite('raced', inAnHour());
    const made = Array.from({ length: 20 }, (_, at) => `credential-${at}`);
    const outcomes = await Promise.allSettled(
      made.map((credential) => anyone().enrol('raced', token, hashCredential(credential))),
    );
    const winners = made.filter((_, at) => outcomes[at]!.status === 'fulfilled');
    assert.equal(winners.length, 1);
    assert.ok(outcomes.every((one) => one.status === 'fulfilled' || is401(one.reason)));
    for (const credential of made) {
      const report = as(credential).report('raced', REPORT);
      if (credential === winners[0]) await report;
      else await assert.rejects(report, is401);
    }
  });

  it('may repeat the exchange of its token, which nobody else and no later moment can use', async () => {
    const { token, credential } = await enrolled('once');
    await anyone().enrol('once', token, hashCredential(credential));
    await assert.rejects(anyone().enrol('once', token, hashCredential('a thief')), is401);
    await assert.rejects(anyone().enrol('other', token, hashCredential('a thief')), is401);
    const expired = await enrolments().invite('tardy', new Date(Date.now() - 1));
    await assert.rejects(anyone().enrol('tardy', expired, hashCredential('too late')), is401);
    const replaced = await enrolments().invite('twice', inAnHour());
    await enrolments().invite('twice', inAnHour());
    await assert.rejects(anyone().enrol('twice', replaced, hashCredential('too late')), is401);
    await assert.rejects(anyone().enrol('once', NODE_TOKEN, hashCredential('a thief')), is401);
  });

  it('is stored without its token and its credential', async () => {
    const { token, credential } = await enrolled('hashed');
    const stored = JSON.stringify(await farm.store.collection('node_enrolments').find({}).toArray());
    for (const secret of [token, credential]) assert.ok(!stored.includes(secret));
    assert.ok(stored.includes(hashCredential(credential)));
  });

  it('has its name to itself, and a pass for the proxy-router in place of the join token', async () => {
    const early = as(NODE_TOKEN);
    await early.report('owned', REPORT);
    const { node, credential } = await enrolled('owned');
    await assert.rejects(as(NODE_TOKEN).report('owned', REPORT), is401);
    await assert.rejects(early.report('owned', REPORT), is401);
    await assert.rejects(as(credential).report('another', REPORT), is401);
    const { router_pass } = await node.report('owned', REPORT);
    assert.equal(nodeOfRouterPass(router_pass!, NODE_TOKEN, new Date()), 'owned');
    assert.equal((await farm.node.report('with-a-join-token', REPORT)).router_pass, undefined);
  });

  it('gets the exits of its leases alone: their sessions are signed for it and for the attempts of their jobs', async () => {
    const { node } = await enrolled('signed');
    const opened = async (overrides: Parameters<RunningFarm['submit']>[0], client: LeaseClient, name: string) => {
      await farm.submit(overrides);
      const { exit_session } = (await poll(client, name)).leases[0]!.job;
      await farm.forgetScans();
      return openExitSession(exit_session, NODE_TOKEN, 'signed', new Date());
    };
    const sweep = { discovery: { ad_formats: null, max_discovered_ads: 3 }, job_kind: 'sweep' as const };
    assert.equal((await opened({}, node, 'signed'))?.attempts, 1);
    assert.equal((await opened(sweep, node, 'signed'))?.attempts, 26);
    await farm.node.report('with-a-join-token', REPORT);
    assert.equal(await opened({}, farm.node as LeaseClient, 'with-a-join-token'), null);
    assert.equal(await opened({}, (await enrolled('signed-too')).node, 'signed-too'), null);
  });

  it('has no more leases at once than its slots, however many processes it registers', async () => {
    const { credential } = await enrolled('greedy');
    for (let job = 0; job < 8; job += 1) await farm.submit();
    const leased: unknown[] = [];
    for (let process = 0; process < 3; process += 1) {
      const node = as(credential);
      await node.report('greedy', { ...REPORT, slots: 2 });
      leased.push(...(await node.acquire({ node_id: 'greedy', max: 8, wait_ms: 0 })).leases);
    }
    assert.equal(leased.length, 2);
    await farm.forgetScans();
  });

  it('has no more leases at once than its slots after Redis has lost them, however many processes it registers', async () => {
    const { credential } = await enrolled('forgotten');
    for (let job = 0; job < 4; job += 1) await farm.submit();
    const leasesOf = async () => {
      const node = as(credential);
      await node.report('forgotten', { ...REPORT, slots: 2 });
      return (await node.acquire({ node_id: 'forgotten', max: 8, wait_ms: 0 })).leases;
    };
    const [first, second] = await leasesOf();
    await farm.redis.client.flushall();
    assert.equal((await anyone().renew(first!)).outcome, 'renewed');
    await refill(farm.farm.dependencies);
    assert.deepEqual(await leasesOf(), []);
    await anyone().release(second!);
    assert.equal((await leasesOf()).length, 1);
    await farm.forgetScans();
  });

  it('that registers again and again has only so many processes, and keeps no other node from registering', async () => {
    const { credential } = await enrolled('many');
    const register = () => as(credential).report('many', REPORT);
    for (let process = 1; process < PROCESSES_OF_ENROLLED_MAX; process += 1) await register();
    await assert.rejects(register(), { status: 503 });
    const { node } = await enrolled('many-more');
    await farm.node.report('many-without-enrolment', REPORT);
    await node.report('many-more', { ...REPORT, slots: 256 });
    const { nodes } = farm.farm;
    const own = (await nodes.list()).filter(({ id }) => id.startsWith('many'));
    assert.ok(own.every(({ id, is_enrolled = false }) => is_enrolled === (id !== 'many-without-enrolment')));
    assert.equal(
      await nodes.lastSlots(),
      REPORT.slots,
      'its size is not that of the nodes which are started for more work',
    );
  });

  it('that makes too many calls gets 429, with its own credential too, and no other node does', async () => {
    const enrolments = {
      isInvited: async () => false,
      isEnrolled: async () => true,
      isEnrolledLately: async () => true,
      isCurrent: async () => true,
      findNode: async (nodeId: string) => ({ nodeId, enrolment: `enrolment of ${nodeId}`, hash: '' }),
    };
    const leaseSecret = 'a secret';
    const admit = admitNode({
      joinTokens: NODE_TOKEN,
      leaseSecret,
      blocked: { hasLately: async () => false },
      enrolments,
    });
    const ofProcess = (name: string) => nodeCredential(leaseSecret, newIdentity(name, 4, `enrolment of ${name}`));
    const call = (name: string, credential = ofProcess(name)) =>
      admit(`Bearer ${credential}`, 'join', { id: name }).then(
        () => 200,
        ({ status }: ApiError) => status,
      );
    const callsUntilRefused = async (credential?: string) => {
      for (let calls = 0; calls < 5_000; calls += 1) if ((await call('noisy', credential)) === 429) return calls;
      return Number.POSITIVE_INFINITY;
    };
    const first = await callsUntilRefused();
    assert.ok(first >= 500 && first < 5_000, `${first} calls`);
    const second = await callsUntilRefused('its own credential');
    assert.ok(second < 400, `${second} calls, which count with those of its process`);
    assert.equal(await call('quiet'), 200);
  });

  it('that renews a lease again and again gets 429, and its other leases are renewed', async () => {
    const { node } = await enrolled('renewing');
    for (let job = 0; job < 2; job += 1) await farm.submit();
    const { leases } = await node.acquire({ node_id: 'renewing', max: 2, wait_ms: 0 });
    const renewals = await Promise.allSettled(Array.from({ length: 60 }, () => anyone().renew(leases[0]!)));
    const refused = renewals.filter((one) => one.status === 'rejected');
    assert.ok(refused.length > 0 && refused.length < 41);
    assert.ok(refused.every(({ reason }) => (reason as NodeApiError).status === 429));
    assert.equal((await anyone().renew(leases[1]!)).outcome, 'renewed');
    await farm.forgetScans();
  });

  it('that is revoked has its next call, its open long poll and its lease refused at once', async () => {
    const { node, token, credential } = await enrolled('revoked');
    const scan = await farm.submit();
    const [lease] = (await poll(node, 'revoked')).leases;
    assert.equal((await farm.read(scan._id)).status, 'running');
    // Its answer would be an empty list of leases once its wait is over.
    const refused = assert.rejects(poll(node, 'revoked', 25_000), is401);
    await until('the open poll', async () => (await farm.redis.client.exists('adsweep:waiting:jobs')) === 1);
    assert.equal(await revoke('revoked'), true);
    await refused;
    await assert.rejects(node.report('revoked', REPORT), is401);
    await assert.rejects(node.report('revoked', REPORT), is401, 'with its own credential too');
    await assert.rejects(anyone().rotate('revoked', credential, hashCredential('next')), is401);
    await assert.rejects(anyone().enrol('revoked', token, hashCredential(credential)), is401);
    await assert.rejects(as(NODE_TOKEN).report('revoked', REPORT), is401);
    assert.equal((await farm.node.renew(lease!)).outcome, 'lost');
    assert.equal((await farm.read(scan._id)).status, 'pending');
    await farm.forgetScans();
  });

  it('that is revoked while it waits for work and has no lease gets its answer at once', {
    timeout: 20_000,
  }, async () => {
    await enrolled('waiting');
    const { enrolment } = (await farm.store.collection<Enrolment>('node_enrolments').findOne({ _id: 'waiting' }))!;
    const { dependencies } = farm.farm;
    const waitForWork: CrawlQueue['waitForWork'] = async (_, gone) => {
      const ended = once(gone!, 'abort');
      await revoke('waiting');
      await ended;
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, waitForWork } });
    const route = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('waiting', 1, enrolment), lease: null, enrolled: null };
    const stream = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const request = { caller, body: { node_id: 'waiting', max: 1, wait_ms: 3_600_000 }, stream };
    await assert.rejects(async () => route?.handle(request as never), { code: 'unauthorized' });
  });

  it('that is revoked keeps no lease that was being granted at the same moment', async () => {
    await enrolled('late');
    const { enrolment } = (await farm.store.collection<Enrolment>('node_enrolments').findOne({ _id: 'late' }))!;
    const scan = await farm.submit();
    const { dependencies } = farm.farm;
    const takeOrFull: CrawlQueue['takeOrFull'] = async (...asked) => {
      await revoke('late');
      return dependencies.queue.takeOrFull(...asked);
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, takeOrFull } });
    const route = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('late', 1, enrolment), lease: null, enrolled: null };
    const stream = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
    const request = { caller, body: { node_id: 'late', max: 1, wait_ms: 0 }, stream };
    await assert.rejects(async () => route?.handle(request as never), { code: 'unauthorized' });
    assert.equal((await farm.read(scan._id)).status, 'pending');
    await farm.forgetScans();
  });

  it('that is revoked works again with a new token alone', async () => {
    const { node } = await enrolled('back');
    await revoke('back');
    const token = await enrolments().invite('back', inAnHour());
    await assert.rejects(node.report('back', REPORT), is401);
    await anyone().enrol('back', token, hashCredential('another-credential'));
    await as('another-credential').report('back', REPORT);
    await assert.rejects(node.report('back', REPORT), is401);
    await assert.rejects(poll(node, 'back'), /not registered|401/);
  });

  it('rotates its credential, and the earlier one ends when the next is used', async () => {
    const { node, credential } = await enrolled('rotating');
    await anyone().rotate('rotating', credential, hashCredential('the-next-credential'));
    await anyone().rotate('rotating', credential, hashCredential('the-next-credential'));
    await as(credential).report('rotating', REPORT);
    const both = [as('the-next-credential'), as('the-next-credential')];
    await Promise.all(both.map((one) => one.report('rotating', REPORT)));
    await assert.rejects(as(credential).report('rotating', REPORT), is401);
    await assert.rejects(anyone().rotate('rotating', credential, hashCredential('a thief')), is401);
    await node.report('rotating', REPORT);
  });

  it('has no access with a credential that expired, nor with that of a process which registered with it', async () => {
    const { node, credential } = await enrolled('expired');
    const ended = { hash: hashCredential(credential), expires_at: new Date(Date.now() - 1) };
    await change('expired', { credential: ended });
    await assert.rejects(poll(node, 'expired'), is401);
    await assert.rejects(node.report('expired', REPORT), is401);
    await assert.rejects(as(credential).report('expired', REPORT), is401);
    await assert.rejects(anyone().rotate('expired', credential, hashCredential('a thief')), is401);
  });
});

describe('the operations on enrolments', () => {
  let api: RunningApi;
  let manager: string;
  before(async () => {
    api = await runningApi();
    manager = await api.keyThatMay('fleet.manage', 'fleet.read');
  });
  after(() => api.stop());

  it('§4.6.7 create a token that is shown once, list enrolments without secrets, and revoke them', async () => {
    const path = '/api/v1/fleet/enrolments';
    const list = async () => (await api.get(path, { key: manager })).body;
    const body = { node_id: 'eu-1', expires_in_seconds: 60 };
    const created = await api.post(path, body, { key: manager });
    assert.equal(created.status, 201);
    const { token, expires_at, ...rest } = created.body;
    assert.deepEqual(rest, { node_id: 'eu-1' });
    const invited = { ...{ node_id: 'eu-1', state: 'invited', token_expires_at: expires_at }, ...NOTHING_YET };
    assert.deepEqual((await list()).items, [invited]);

    const { enrolments } = api.domains.crawling.dependencies;
    const now = new Date();
    await enrolments.exchange('eu-1', hashCredential(token), hashCredential('its own'), now);
    const [enrolled] = (await list()).items;
    assert.deepEqual(
      [enrolled.state, enrolled.token_expires_at, enrolled.enrolled_at, enrolled.credential_expires_at],
      ['enrolled', null, now.toISOString(), new Date(now.getTime() + NODE_CREDENTIAL_MS).toISOString()],
    );

    assert.equal((await api.post(`${path}/eu-1/revoke`, undefined, { key: manager })).status, 204);
    assert.equal((await api.post(`${path}/eu-1/revoke`, undefined, { key: manager })).status, 204);
    assert.equal((await list()).items[0].state, 'revoked');
    assert.equal((await api.post(`${path}/eu-2/revoke`, undefined, { key: manager })).status, 404);
    for (const wrong of [{}, { node_id: 'no name' }, { ...body, expires_in_seconds: 86_401 }])
      assert.equal((await api.post(path, wrong, { key: manager })).status, 422);
    const reader = await api.keyThatMay('fleet.read');
    assert.equal((await api.post(path, body, { key: reader })).status, 403);
  });
});

const NOTHING_YET = { enrolled_at: null, credential_expires_at: null, revoked_at: null };
