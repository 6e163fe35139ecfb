import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Fail } from '@adsweep/shared/lease/messages.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { ExitRequest } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { CapturePage } from '../src/capture/session/capture-outcome.ts';
import { drainAsAsked } from '../src/node/drain-as-asked.ts';
import { Heartbeat } from '../src/node/heartbeat.ts';
import { FakeControlPlane, MEMBER } from './support/fake-control-plane.ts';
import { endlessCapture, goodOutcome, leaseBench, NODE_REPORT, uneventfulCapture } from './support/lease-bench.ts';

const FILE = {
  name: 'landing-0.webp',
  contentType: 'image/webp',
  bytes: Buffer.from('a picture'),
  width: 12,
  height: 34,
};
const instantly: CapturePage = async () => ({ ...goodOutcome(), files: [FILE] });

test('a job is captured and completed with its exit, its traffic and the hashes of its artifacts', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  const leaseId = plane.give();
  const said = await plane.heard('complete');
  const { capture } = said.body as { capture: Capture };
  assert.equal(said.leaseId, leaseId);
  assert.equal(capture.exit?.city, 'Berlin');
  assert.deepEqual(capture.traffic, { bytes_sent: 11, bytes_received: 22 });
  const sha256 = createHash('sha256').update(FILE.bytes).digest('hex');
  assert.deepEqual(capture.artifacts, [
    { name: 'landing-0.webp', sha256, bytes: 9, content_type: 'image/webp', width: 12, height: 34 },
  ]);
  await router.until(() => router.calls.includes('DELETE /exits/ticket-1'));
});

test('§4.2.13 the exit of an ad tag refuses the publisher on whose page it stands', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  const target = { kind: 'ad_tag', value: '<script src="https://ads.example/tag.js"></script>' } as const;
  plane.give({ target, referrer: 'https://news.example/article' });
  await plane.heard('complete');
  assert.deepEqual((router.requests[0] as ExitRequest).deny_hosts, ['news.example']);
});

for (const [code, status] of [
  ['NODE_NOT_FOUND', 404],
  ['NODE_BUSY', 503],
  ['ACCOUNT_REFUSED', 403],
] as const) {
  test(`a request for an exit that is refused with ${code} fails the attempt with proxy: ${code}`, async (t) => {
    const { plane, router, pool } = await leaseBench(t, instantly);
    router.refusal = { status, code };
    plane.give();
    const { body } = await plane.heard('fail');
    assert.equal((body as Fail).code, `proxy: ${code}`);
    assert.equal((body as Fail).capture, null);
    assert.equal(pool.opened, 0);
  });
}

test('a proxy-router that is not there fails the attempt with proxy: UPSTREAM_FAILED', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  await router.close();
  plane.give();
  assert.equal(((await plane.heard('fail')).body as Fail).code, 'proxy: UPSTREAM_FAILED');
});

test('a failed capture is reported with its code, its cause and the evidence so far', async (t) => {
  const { plane, metrics, loop } = await leaseBench(t, async () => ({
    ...goodOutcome(),
    files: [FILE],
    failure: { code: 'navigation: DNS', cause: 'no such name' },
  }));
  plane.give();
  const fail = (await plane.heard('fail')).body as Fail;
  assert.equal(fail.code, 'navigation: DNS');
  assert.equal(fail.cause, 'no such name');
  assert.equal(fail.capture?.artifacts.length, 1);
  await untilIdle(loop, plane);
  assert.match(await metrics.registry.metrics(), /adsweep_node_failures_total\{code="navigation: DNS"\} 1/);
});

test('an emulator that this node does not know is our own fault', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.give({ emulator_id: 'toaster' });
  assert.equal(((await plane.heard('fail')).body as Fail).code, 'internal: ERROR');
});

for (const outcome of ['lost', 'cancelled'] as const) {
  test(`a lease that is ${outcome} ends the capture, and nothing more is said about it`, async (t) => {
    const { plane, pool, loop } = await leaseBench(t, endlessCapture);
    plane.give();
    await plane.heard('renew');
    plane.renewal = outcome;
    await untilIdle(loop, plane);
    assert.equal(pool.live, 0);
    for (const call of ['complete', 'fail', 'release', 'artifacts']) assert.equal(plane.count(call), 0, call);
  });
}

test('an attempt that takes too long fails with browser: TIMEOUT and its evidence', async (t) => {
  const { plane } = await leaseBench(t, endlessCapture, { attemptMs: 100 });
  plane.give();
  const fail = (await plane.heard('fail')).body as Fail;
  assert.equal(fail.code, 'browser: TIMEOUT');
  assert.deepEqual(fail.capture?.browser, uneventfulCapture().browser);
});

test('a capture that does not even end when told to fails with browser: TIMEOUT and gives its slot back', async (t) => {
  const { plane, pool, loop } = await leaseBench(t, () => new Promise(() => undefined), { attemptMs: 100 });
  plane.give();
  const fail = (await plane.heard('fail')).body as Fail;
  assert.equal(fail.code, 'browser: TIMEOUT');
  assert.equal(fail.capture, null);
  await untilIdle(loop, plane);
  assert.equal(pool.live, 0);
});

test('a result is said again until a control plane that went away is back', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.artifacts = [0, 503];
  plane.refusals.complete = [0, 0, 502];
  plane.give();
  await plane.heard('complete');
  assert.equal(plane.count('refused complete'), 1);
  assert.deepEqual(plane.refusals, { artifacts: [], complete: [] });
});

test('a result that comes too late is counted and not said again', async (t) => {
  const { plane, metrics, loop } = await leaseBench(t, instantly);
  plane.refusals.complete = [409];
  plane.give();
  await plane.heard('refused complete');
  await untilIdle(loop, plane);
  assert.equal(plane.count('complete'), 0);
  assert.equal(plane.count('fail'), 0);
  assert.match(await metrics.registry.metrics(), /adsweep_node_late_results_total 1/);
});

test('a result that the control plane refuses for what it is fails by our own fault', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.complete = [422];
  plane.give();
  const fail = (await plane.heard('fail')).body as Fail;
  assert.equal(fail.code, 'internal: ERROR');
  assert.equal(fail.capture, null);
});

test('no more captures run than there are slots, and each freed slot is filled', async (t) => {
  const ends: (() => void)[] = [];
  const { plane, pool } = await leaseBench(
    t,
    () =>
      new Promise((resolve) => {
        ends.push(() => resolve(goodOutcome()));
        plane.changed();
      }),
    { slots: 2 },
  );
  for (let n = 0; n < 5; n++) plane.give({ scan_id: `scan-${n}` });
  for (let n = 0; n < 5; n++) {
    await plane.until(() => ends.length >= Math.min(n + 2, 5));
    assert.ok(pool.live <= 2);
    ends[n]?.();
    await plane.until(() => plane.count('complete') === n + 1);
  }
});

test('a drain gives running captures back at once and takes no more work', async (t) => {
  const { plane, loop } = await leaseBench(t, endlessCapture);
  const leaseId = plane.give();
  await plane.heard('renew');
  await loop.drain(0);
  assert.equal((await plane.heard('release')).leaseId, leaseId);
  assert.equal(loop.busy, 0);
  plane.give();
  assert.equal(plane.count('fail') + plane.count('complete'), 0);
});

test('a drain with time to spare lets a running capture finish', async (t) => {
  let end = () => {};
  const { plane, loop } = await leaseBench(t, () => new Promise((resolve) => (end = () => resolve(goodOutcome()))));
  plane.give();
  await plane.heard('renew');
  const drained = loop.drain(20_000);
  end();
  await drained;
  assert.equal(plane.count('complete'), 1);
  assert.equal(plane.count('release'), 0);
});

test('a drain under load fails no scan: what runs is completed, and what has not begun goes back', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 4 });
  const given = ['one', 'two', 'three', 'four'].map((id) => plane.give({ members: members(id, `${id}-next`) }));
  await untilTrue(plane, () => began.length === 4);
  const drained = loop.drain(60_000);
  for (const id of [...began]) running.get(id)?.();
  await drained;
  assert.deepEqual([plane.count('complete'), plane.count('release'), plane.count('fail')], [4, given.length, 0]);
  assert.equal(began.length, 4, 'no member begins during a drain');
});

test('whoever is told twice to stop gives back at once what still runs', async (t) => {
  const { plane, loop } = await leaseBench(t, endlessCapture);
  const leaseId = plane.give();
  await plane.heard('renew');
  const stopped = loop.stop(600_000);
  loop.giveBackAll();
  assert.equal((await plane.heard('release')).leaseId, leaseId);
  await stopped;
});

test('a node drains while the operator wants it to, and works again after that', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop, metrics } = await leaseBench(t, capture);
  const logger = createLogger('test', 'silent');
  const api = new LeaseClient(plane.url, 'node-token');
  const report = () => ({ ...NODE_REPORT, busy: loop.busy, draining: loop.draining });
  const answered = drainAsAsked(loop, 600_000, logger);
  const heartbeat = new Heartbeat(api, 'node-1', { report, answered }, metrics, logger);
  t.after(() => heartbeat.stop());
  const reported = (draining: boolean, busy: number) => () =>
    plane.said.some(
      ({ call, body }) => call === 'report' && isDeepStrictEqual(body, { ...NODE_REPORT, draining, busy }),
    );

  plane.give({ scan_id: 'first' });
  await untilTrue(plane, () => began.length === 1);
  plane.drain = true;
  await heartbeat.start(10);
  await untilTrue(plane, reported(true, 1));
  plane.give({ scan_id: 'second' });
  running.get('first')?.();
  await untilTrue(plane, reported(true, 0));
  assert.deepEqual([began, plane.count('complete')], [['first'], 1]);

  plane.drain = false;
  await untilTrue(plane, () => began.length === 2);
  running.get('second')?.();
  await untilIdle(loop, plane);
  assert.deepEqual([plane.count('complete'), plane.count('release'), plane.count('fail')], [2, 0, 0]);
});

/** Captures that go on until they are told, by scan id, in the order in which they began. */
function heldCaptures() {
  const running = new Map<string, () => void>();
  const began: string[] = [];
  const capture: CapturePage = ({ scan_id }) =>
    new Promise((resolve) => {
      began.push(scan_id);
      running.set(scan_id, () => resolve(goodOutcome()));
    });
  return { running, began, capture };
}

test('a job that must be alone begins when the others have ended and the control plane knows, and no work is taken meanwhile', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 3 });
  plane.give({ scan_id: 'first' });
  await untilTrue(plane, () => began.length === 1);
  const exclusive = plane.give({ scan_id: 'exclusive', isolation: 'node' });
  await plane.until(() => plane.said.some(({ call, leaseId }) => call === 'renew' && leaseId === exclusive));
  plane.give({ scan_id: 'next' });
  plane.refusals.alone = [503];
  assert.deepEqual(began, ['first']);
  assert.equal(plane.count('alone'), 0);

  running.get('first')?.();
  assert.equal((await plane.heard('alone')).leaseId, exclusive);
  await untilTrue(plane, () => began.length === 2);
  assert.deepEqual([began, loop.busy], [['first', 'exclusive'], 1]);
  const order = plane.said
    .map(({ call }) => call)
    .filter((call) => ['complete', 'refused alone', 'alone'].includes(call));
  assert.deepEqual(order, ['complete', 'refused alone', 'alone']);

  running.get('exclusive')?.();
  await untilTrue(plane, () => began.length === 3);
  assert.equal(began[2], 'next');
  running.get('next')?.();
  await untilIdle(loop, plane);
});

test('of two jobs that must be alone the second one goes back at once', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 3 });
  plane.hold = true;
  plane.give({ scan_id: 'one', isolation: 'node' });
  const second = plane.give({ scan_id: 'two', isolation: 'node' });
  plane.hold = false;
  plane.changed();
  assert.equal((await plane.heard('release')).leaseId, second);
  await untilTrue(plane, () => began.length === 1);
  running.get('one')?.();
  await untilIdle(loop, plane);
  assert.deepEqual(began, ['one']);
});

test('a job that waits to be alone is given back at a drain and ends when its lease is lost', async (t) => {
  for (const end of ['drain', 'lost']) {
    const { running, began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture, { slots: 2 });
    plane.give({ scan_id: 'first' });
    await untilTrue(plane, () => began.length === 1);
    const waiting = plane.give({ scan_id: 'waiting', isolation: 'node' });
    await plane.until(() => plane.said.some(({ call, leaseId }) => call === 'renew' && leaseId === waiting));
    if (end === 'lost') plane.renewals[waiting] = 'lost';
    const drained = end === 'drain' ? loop.drain(20_000) : null;
    if (end === 'drain') assert.equal((await plane.heard('release')).leaseId, waiting);
    else await untilTrue(plane, () => loop.busy === 1);
    running.get('first')?.();
    await plane.heard('complete');
    await drained;
    await untilIdle(loop, plane);
    assert.deepEqual([began, plane.count('alone')], [['first'], 0]);
  }
});

test('a job that must be alone goes back where the control plane does not hear of it, and ends where it is lost', async (t) => {
  for (const [status, released] of [
    [422, 1],
    [409, 0],
  ] as const) {
    const { began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture);
    plane.refusals.alone = [status];
    plane.give({ isolation: 'node' });
    await plane.heard('refused alone');
    await untilIdle(loop, plane);
    assert.deepEqual([began.length, plane.count('release')], [0, released]);
  }
});

/** The members of a job, by their ids. */
const members = (...ids: string[]) => ids.map((scan_id) => ({ ...MEMBER, scan_id }));
const scansOf = (plane: FakeControlPlane, ...calls: string[]) =>
  plane.said.filter(({ call }) => calls.includes(call)).map(({ call, scanId }) => [call, scanId]);

test('the members of a job are captured one after the other in one slot, and each is reported by itself', async (t) => {
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
    ['artifacts', 'one'],
    ['complete', 'one'],
    ['artifacts', 'two'],
    ['fail', 'two'],
    ['artifacts', 'three'],
    ['complete', 'three'],
  ]);
  assert.deepEqual([running.most, pool.opened, pool.live], [1, 3, 0]);
  assert.match(await metrics.registry.metrics(), /adsweep_node_leases_total\{end="failed"\} 1/);
});

test('a member that takes too long, by its job or by what the node allows, leaves the others their time', async (t) => {
  for (const [seconds, attemptMs] of [
    [1, 30_000],
    [90, 100],
  ] as const) {
    const capture: CapturePage = (request, ...rest) =>
      request.scan_id === 'slow' ? endlessCapture(request, ...rest) : instantly(request, ...rest);
    const { plane } = await leaseBench(t, capture, { attemptMs });
    plane.give({ members: members('slow', 'next'), limits: { ...JOB_LIMITS.page, seconds } });
    assert.equal(((await plane.heard('fail')).body as Fail).code, 'browser: TIMEOUT');
    assert.equal((await plane.heard('complete')).scanId, 'next');
  }
});

test('the members of a shared repeat group have one context and one exit, with the time and the bytes of all', async (t) => {
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

test('what a shared repeat group has carried before a member is not counted as that member’s', async (t) => {
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

test('a shared repeat group goes on in a new context where a member leaves none that is fit', async (t) => {
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

test('a lease that is lost or given back takes the members along that were not begun', async (t) => {
  for (const end of ['lost', 'refused', 'drain'] as const) {
    const { running, began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture);
    if (end === 'refused') plane.refusals.complete = [409];
    const leaseId = plane.give({ members: members('one', 'two') });
    await untilTrue(plane, () => began.length === 1);
    if (end === 'lost') plane.renewals[leaseId] = 'lost';
    if (end === 'refused') running.get('one')?.();
    const drained = end === 'drain' ? loop.drain(0) : untilIdle(loop, plane);
    await drained;
    assert.deepEqual([began, plane.count('release')], [['one'], end === 'drain' ? 1 : 0]);
  }
});

test('an exit is asked for with the limits of the job', async (t) => {
  const { plane, router } = await leaseBench(t, instantly);
  plane.give({ limits: JOB_LIMITS.sweep });
  await plane.heard('complete');
  const { ticket_seconds, ticket_bytes } = JOB_LIMITS.sweep;
  assert.partialDeepStrictEqual(router.requests[0], { ttl_seconds: ticket_seconds, bytes_max: ticket_bytes });
});

test('a file that is larger than the job allows is left out, and a note says so', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.give({ limits: { ...JOB_LIMITS.page, artifact_bytes: FILE.bytes.length - 1 } });
  const { capture } = (await plane.heard('complete')).body as { capture: Capture };
  assert.deepEqual([capture.artifacts, capture.notes.at(-1)?.collector], [[], 'upload']);
});

for (const [isolation, isolated] of [
  ['shared', false],
  ['browser', true],
  ['node', true],
] as const)
  test(`a job of isolation ${isolation} gets ${isolated ? 'a browser of its own' : 'a context beside others'}`, async (t) => {
    const { plane, pool } = await leaseBench(t, instantly);
    plane.give({ isolation });
    await plane.heard('complete');
    assert.deepEqual(pool.isolated, [isolated]);
  });

test('a node speaks with the credential it was given, and registers again when that is refused', async (t) => {
  const plane = await FakeControlPlane.start();
  t.after(() => plane.close());
  const client = new LeaseClient(plane.url, 'join-token');
  const ask = () => client.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 });
  const report = () => client.report('node-1', NODE_REPORT);
  await assert.rejects(ask(), /not registered/);
  await report();
  await report();
  plane.refusals.report = [401];
  await assert.rejects(report());
  await assert.rejects(ask(), /not registered/);
  await report();
  plane.give();
  await ask();
  assert.deepEqual(
    plane.said.map(({ call, credential }) => [call, credential]),
    [
      ['report', 'join-token'],
      ['report', 'node-credential'],
      ['refused report', 'node-credential'],
      ['report', 'join-token'],
      ['acquire', 'node-credential'],
    ],
  );
});

test('work is asked for again after the control plane refused or cut an acquire', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.acquire = [500];
  plane.give();
  // The poll that is under way takes this job; the next one is refused first.
  await plane.heard('complete');
  plane.give();
  await plane.until(() => plane.count('complete') === 2);
});

async function untilTrue(plane: { until(holds: () => boolean): Promise<void>; changed(): void }, holds: () => boolean) {
  const look = setInterval(() => plane.changed(), 5);
  await plane.until(holds).finally(() => clearInterval(look));
}

/** A lease that ends says nothing more; its slot shows it. */
async function untilIdle(
  loop: { busy: number },
  plane: { until(holds: () => boolean): Promise<void>; changed(): void },
) {
  const look = setInterval(() => plane.changed(), 5);
  await plane.until(() => loop.busy === 0).finally(() => clearInterval(look));
}
