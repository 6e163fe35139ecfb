import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Fail } from '@adsweep/shared/lease/messages.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { ExitRequest } from '@adsweep/shared/targeting/exit-ticket.ts';
import { ClaimGate } from '../src/lease/claim-gate.ts';
import { ExitsClient } from '../src/lease/exits-client.ts';
import { ServiceWatch, waitsFor } from '../src/node/watch-service.ts';
import { MEMBER } from './support/fake-control-plane.ts';
import { FakeRouter } from './support/fake-router.ts';
import { goodOutcome, instantly, leaseBench, members } from './support/lease-bench.ts';

test('§4.2.13 an ad tag requests an exit that denies the host of its publisher', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  const target = { kind: 'ad_tag', value: '<script src="https://ads.example/tag.js"></script>' } as const;
  plane.give({ target, referrer: 'https://news.example/article' });
  await plane.received('complete');
  assert.deepEqual((router.requests[0] as ExitRequest).deny_hosts, ['news.example']);
});

for (const [code, status] of [
  ['NODE_NOT_FOUND', 404],
  ['NODE_BUSY', 503],
  ['ACCOUNT_REFUSED', 403],
] as const) {
  test(`an exit request that is refused with ${code} fails the attempt with proxy: ${code}`, async (t) => {
    const { plane, router, pool } = await leaseBench(t, instantly);
    router.refusal = { status, code };
    plane.give();
    const { body } = await plane.received('fail');
    assert.equal((body as Fail).code, `proxy: ${code}`);
    assert.equal((body as Fail).capture, null);
    assert.equal(pool.opened, 0);
  });
}

test('an unreachable proxy-router fails the attempt with proxy: UPSTREAM_FAILED', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  await router.close();
  plane.give();
  assert.equal(((await plane.received('fail')).body as Fail).code, 'proxy: UPSTREAM_FAILED');
});

test('an idle node reports that it waits for the proxy-router although no job has shown that it is gone; a busy one does not ask', async (t) => {
  const router = await FakeRouter.start();
  const exits = new ExitsClient(router.url, () => 'node-token', ['127.0.0.1']);
  const gate = new ClaimGate();
  let tries = 0;
  const connect = async () => {
    tries += 1;
    await exits.requireReady().finally(() => {
      tries -= 1;
    });
  };
  const watch = new ServiceWatch(
    { name: 'the router', reason: 'exits', connect },
    gate,
    createLogger('test', 'silent'),
  );
  t.after(async () => {
    watch.stop();
    await router.close();
  });
  let [isIdle, asked] = [true, 0];
  const idle = () => {
    asked += 1;
    router.changed();
    return isIdle;
  };
  watch.watchWhileIdle(idle, 5);
  await router.until(() => router.calls.length > 2);
  assert.deepEqual(waitsFor(gate), {});
  isIdle = false;
  await router.until(() => tries === 0);
  const [calls, from] = [router.calls.length, asked];
  await router.until(() => asked > from + 3);
  assert.equal(router.calls.length, calls);
  router.isReady = false;
  isIdle = true;
  await router.until(() => waitsFor(gate).waits_for !== undefined);
  router.isReady = true;
  await router.until(() => waitsFor(gate).waits_for === undefined);
});

test('while the proxy-router stops or has no exits, jobs go back to the queue and the node takes no others, and reports it', async (t) => {
  const { plane, router, loop } = await leaseBench(t, instantly, { watchesRouter: true });
  Object.assign(router, { isReady: false, refusal: { status: 503, code: 'NODE_BUSY' } });
  plane.give({ members: members('one', 'two') });
  await plane.until(() => plane.count('release') === 1);
  // Its answer would be lost.
  await plane.until(() => plane.acquiring === 0);
  plane.give({ scan_id: 'three' });
  const probes = () => router.calls.filter((call) => call === 'GET /readyz').length;
  await router.until(() => probes() > 1);
  assert.deepEqual([plane.count('fail'), plane.count('release'), router.requests.length], [0, 1, 1]);
  assert.deepEqual(waitsFor(loop.gate), { waits_for: ['exits'] });
  Object.assign(router, { isReady: true, refusal: null });
  await plane.until(() => plane.count('complete') === 1);
  assert.deepEqual(waitsFor(loop.gate), {});
});

test('a proxy-router that is ready and has no exit free fails the attempt with proxy: NODE_BUSY', async (t) => {
  const { plane, router } = await leaseBench(t, instantly, { watchesRouter: true });
  router.refusal = { status: 503, code: 'NODE_BUSY' };
  plane.give();
  assert.equal(((await plane.received('fail')).body as Fail).code, 'proxy: NODE_BUSY');
  router.refusal = null;
  plane.give({ scan_id: 'two' });
  await plane.received('complete');
});

test('a capture that the gateway was away for is made again, and is kept if that fails', async (t) => {
  const lacking = note('gateway', { count: 3 });
  const failure = { code: 'proxy: UPSTREAM_FAILED', cause: 'the proxy is away' } as const;
  const whole = goodOutcome();
  const cut = { ...whole, capture: { ...whole.capture, notes: [lacking] } };
  const failed = { ...cut, failure };
  for (const [first, second, end] of [
    [cut, whole, []],
    [cut, failed, [lacking]],
    [cut, cut, [lacking]],
    [cut, new Error('a fault of the node'), [lacking]],
    [failed, whole, []],
    [failed, failed, failure.code],
  ] as const) {
    const outcomes = [first, second];
    const { plane, router, pool } = await leaseBench(t, async () => {
      const outcome = outcomes.shift()!;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    });
    plane.give();
    const { body } = await plane.received(typeof end === 'string' ? 'fail' : 'complete');
    const { code, capture } = body as Fail;
    assert.deepEqual(typeof end === 'string' ? code : capture?.notes, end);
    assert.deepEqual([router.requests.length, pool.isolated, pool.live], [2, [false, false], 0]);
  }
});

test('a capture that failed is made again if the gateway does not report its traffic: it may have cut the connections', async (t) => {
  const failure = { code: 'navigation: CONNECTION_FAILED', cause: 'net::ERR_CONNECTION_RESET' } as const;
  for (const [carried, end] of [
    [null, 'complete'],
    [[1, 1], 'fail'],
  ] as const) {
    const outcomes = [{ ...goodOutcome(), failure }, goodOutcome()];
    const { plane, router } = await leaseBench(t, async () => outcomes.shift()!);
    router.carried = [carried && [...carried], [1, 1]];
    plane.give();
    await plane.received(end);
    assert.equal(router.requests.length, end === 'fail' ? 1 : 2);
  }
});

test('an exit request has the limits of the job', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  plane.give({ limits: JOB_LIMITS.sweep });
  await plane.received('complete');
  const { ticket_seconds, ticket_bytes } = JOB_LIMITS.sweep;
  assert.partialDeepStrictEqual(router.requests[0], { ttl_seconds: ticket_seconds, bytes_max: ticket_bytes });
});

for (const aheadMs of [600_000, -600_000, 0])
  test(`the times of what the gateway carried are those of the node if the clock of the router is ${aheadMs} ms ahead`, async (t) => {
    const router = await FakeRouter.start();
    t.after(() => router.close());
    const exits = new ExitsClient(router.url, () => 'token', ['127.0.0.1']);
    Object.assign(router, { aheadMs, carriedAt: [Date.now()] });
    if (aheadMs === 0) router.ticket = { ...router.ticket, expires_at: new Date(Date.now() + 60_000).toISOString() };
    const asked = { targeting: MEMBER.targeting, session: 's', scan_id: 'scan-1', ttl_seconds: 60 };
    await exits.request(asked, new AbortController().signal);
    const [carried] = (await exits.traffic('ticket-1'))!.requests;
    assert.ok(Math.abs(carried!.at_ms - router.carriedAt[0]!) < 5_000, `${carried!.at_ms - router.carriedAt[0]!} ms`);
  });
