import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { CapturePage } from '../src/capture/session/capture-outcome.ts';
import { trafficSince } from '../src/lease/attempt-contexts.ts';
import {
  FILE,
  goodOutcome,
  heldCaptures,
  instantly,
  leaseBench,
  members,
  scansOf,
  untilIdle,
  untilSeen,
} from './support/lease-bench.ts';

test('the members of a job are captured one after the other in one slot and reported separately', async (t) => {
  const running = { now: 0, most: 0 };
  const capture: CapturePage = async ({ scan_id }) => {
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    await plane.until(() => plane.count('renew') > 0);
    running.now -= 1;
    const failure = scan_id === 'two' ? { code: 'navigation: DNS' as const, cause: 'no such name' } : null;
    return { ...goodOutcome(), files: [FILE], failure };
  };
  const { plane, pool, loop, metrics } = await leaseBench(t, capture);
  plane.give({ members: members('one', 'two', 'three') });
  await plane.until(() => plane.count('complete') === 2);
  await untilIdle(loop, plane);
  assert.deepEqual(scansOf(plane, 'artifacts', 'complete', 'fail'), [
    ['complete', 'one'],
    ['artifacts', 'two'],
    ['fail', 'two'],
    ['complete', 'three'],
  ]);
  assert.deepEqual([running.most, pool.opened, pool.live], [1, 3, 0]);
  assert.match(await metrics.registry.metrics(), /adsweep_node_leases_total\{end="failed"\} 1/);
});

test('the members of a shared repeat group share one context and one exit, with limits for all of them together', async (t) => {
  const { plane, router, pool, loop } = await leaseBench(t, async ({ scan_id }) => {
    const failure = scan_id === 'one' ? { code: 'navigation: DNS' as const, cause: 'no such name' } : null;
    return { ...goodOutcome(), failure };
  });
  plane.give({ kind: 'repeat_group', members: members('one', 'two', 'three'), limits: JOB_LIMITS.repeat_group });
  await plane.until(() => plane.count('complete') === 2);
  await untilIdle(loop, plane);
  assert.deepEqual(scansOf(plane, 'complete', 'fail'), [
    ['fail', 'one'],
    ['complete', 'two'],
    ['complete', 'three'],
  ]);
  assert.deepEqual([pool.opened, pool.live, router.requests.length], [1, 0, 1]);
  const { ticket_seconds, ticket_bytes } = JOB_LIMITS.repeat_group;
  const asked = { scan_id: 'one', ttl_seconds: 3 * ticket_seconds, bytes_max: 3 * ticket_bytes };
  assert.partialDeepStrictEqual(router.requests[0], asked);
  await router.until(() => router.calls.includes('DELETE /exits/ticket-1'));
});

test('the traffic of earlier members of a shared repeat group is not counted for a later one', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  router.carried = [
    [0, 100],
    [0, 100],
    [40, 150],
  ];
  plane.give({ kind: 'repeat_group', members: members('one', 'two') });
  await plane.until(() => plane.count('complete') === 2);
  const traffic = plane.said
    .filter(({ call }) => call === 'complete')
    .map(({ body }) => (body as { capture: Capture }).capture.traffic);
  assert.deepEqual(traffic, [
    { bytes_sent: 0, bytes_received: 100 },
    { bytes_sent: 40, bytes_received: 50 },
  ]);
});

test('a member of a shared repeat group has its traffic also if the proxy-router was killed or did not answer meanwhile', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  router.carried = [[40, 900], null, [50, 950], [50, 950], [7, 80]];
  plane.give({ kind: 'repeat_group', members: members('one', 'two', 'three') });
  await plane.until(() => plane.count('complete') === 3);
  const traffic = plane.said
    .filter(({ call }) => call === 'complete')
    .map(({ body }) => (body as { capture: Capture }).capture.traffic);
  assert.deepEqual(traffic, [
    { bytes_sent: 40, bytes_received: 900 },
    { bytes_sent: 10, bytes_received: 50 },
    { bytes_sent: 0, bytes_received: 0 },
  ]);
});

test('the requests of a later attempt are those that the gateway lists after the earlier ones, or all if it has started again', () => {
  const listing = (...paths: string[]): TicketTraffic => ({
    ...{ ticket_id: 'ticket', bytes_sent: 0, bytes_received: 0, open_streams: 0, connecting_streams: 0, quiet_ms: 0 },
    ...{
      hosts: [],
      requests: paths.map((path, at) => ({ method: 'GET', url: `http://shop.example/${path}`, at_ms: at })),
    },
  });
  const since = (all: TicketTraffic, before: TicketTraffic) => trafficSince(all, before).requests;
  const all = listing('a', 'b', 'c');
  assert.deepEqual(since(all, listing('a', 'b')), all.requests.slice(2));
  assert.deepEqual(since(all, all), []);
  assert.deepEqual(since(all, listing()), all.requests);
  for (const before of [listing('x'), listing('w', 'x', 'y', 'z')]) assert.deepEqual(since(all, before), all.requests);
});

test('a shared repeat group continues in a new context if a member leaves an unusable one', async (t) => {
  const { plane, pool, loop } = await leaseBench(t, async ({ scan_id }) => {
    const failure = { code: 'browser: TIMEOUT' as const, cause: 'it does not answer' };
    return { ...goodOutcome(), failure: scan_id === 'two' ? failure : null };
  });
  plane.give({ kind: 'repeat_group', members: members('one', 'two', 'three', 'four') });
  await plane.until(() => plane.count('complete') === 3);
  await untilIdle(loop, plane);
  assert.deepEqual(
    scansOf(plane, 'complete', 'fail').map(([call]) => call),
    ['complete', 'fail', 'complete', 'complete'],
  );
  assert.deepEqual(pool.isolated, [false, true, false], 'the second member ran once more in a browser of its own');
  assert.equal(pool.live, 0);
});

test('a member of a shared repeat group that the gateway was away for is captured again in a new context, which the others share', async (t) => {
  const whole = goodOutcome();
  const cut = { ...whole, capture: { ...whole.capture, notes: [note('gateway', { count: 1 })] } };
  const outcomes = [whole, cut];
  const { plane, pool, router, loop } = await leaseBench(t, async () => outcomes.shift() ?? whole);
  plane.give({ kind: 'repeat_group', members: members('one', 'two', 'three') });
  await plane.until(() => plane.count('complete') === 3);
  await untilIdle(loop, plane);
  const notes = plane.said.flatMap(({ call, body }) =>
    call === 'complete' ? (body as { capture: Capture }).capture.notes : [],
  );
  assert.deepEqual([notes, pool.opened, pool.live, router.requests.length], [[], 2, 0, 2]);
});

test('members that have not begun end with a lease that is lost or returned', async (t) => {
  for (const end of ['lost', 'refused', 'drain'] as const) {
    const { running, began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture);
    if (end === 'refused') plane.refusals.complete = [409];
    const leaseId = plane.give({ members: members('one', 'two') });
    await untilSeen(plane, () => began.length === 1);
    if (end === 'lost') plane.renewals[leaseId] = 'lost';
    if (end === 'refused') running.get('one')?.();
    const drained = end === 'drain' ? loop.drain(0) : untilIdle(loop, plane);
    await drained;
    assert.deepEqual([began, plane.count('release')], [['one'], end === 'drain' ? 1 : 0]);
  }
});
