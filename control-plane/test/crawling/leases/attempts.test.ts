import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { leaseIdOf, leaseToken, newIdentity, parseLeaseId } from '../../../src/crawling/fleet/credentials.ts';
import { backoffMs } from '../../../src/crawling/leases/end-attempt.ts';
import { lifetimeMs } from '../../../src/crawling/leases/lease-lifetime.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { renew } from '../../../src/crawling/leases/renew.ts';
import { leaseRoutes } from '../../../src/crawling/node-api/lease-routes.ts';
import type { CrawlQueue } from '../../../src/crawling/queue/queue.ts';
import { type LeaseRef, shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import { waitingJobOf } from '../../../src/crawling/queue/waiting-jobs.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import type { ScanLease, ScanRecord } from '../../../src/scan/scan.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { captureOf, named, type RunningFarm, requestOf, runningFarm, webp } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CHAIN = ['https://shop.example/'];
const isLost = (error: unknown) => error instanceof NodeApiError && error.status === 409 && error.code === 'lease.lost';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

/** Waits until nothing is stored for the attempts of a scan. */
const untilDiscarded = (scan_id: string) =>
  until('its evidence to be discarded', async () => {
    const counts = ['captures', 'artifacts'].map((name) => farm.store.collection(name).countDocuments({ scan_id }));
    return (await Promise.all(counts)).every((count) => count === 0);
  });

describe('an attempt that fails', () => {
  it('§3.2 is retried under the same scan id while retries remain, each time through another exit', async () => {
    const lease = await farm.leased({ retry_max_attempts: 1 });
    await farm.node.fail(lease, { code: 'navigation: TIMEOUT', cause: 'slow', capture: null });
    const waiting = await farm.read(lease.scan_id);
    assert.deepEqual([waiting.status, waiting.retry_attempt, waiting.error], ['pending', 1, '']);
    assert.ok(waiting.due_at.getTime() > Date.now() + 500, 'not before its backoff');
    await assert.rejects(farm.acquireOne(), /no work/);

    await farm.makeDue(waiting._id);
    const again = await farm.acquireOne();
    assert.equal(again.job.members[0]?.attempt, 1);
    assert.notEqual(again.job.exit_session, lease.job.exit_session);
    await farm.node.fail(again, { code: 'navigation: TIMEOUT', cause: 'slow again', capture: null });
    const failed = await farm.read(waiting._id);
    assert.deepEqual([failed.status, failed.error, failed.lease], ['failed', 'navigation: TIMEOUT', null]);
    assert.equal(failed.outbox.filter(({ kind }) => kind === 'refund').length, 0, 'the target failed, not we');
  });

  it('is retried after a minute at the latest, even if the clock of the control plane that ended it was wrong', () => {
    const scan = { organization_id: 'a', job_id: 'b', campaign_id: null };
    const [now, ahead] = [new Date(1_000_000), new Date(1_000_000 + 300_000)];
    assert.equal(waitingJobOf({ ...scan, due_at: ahead }, now).delayMs, 60_000);
    assert.equal(waitingJobOf({ ...scan, due_at: new Date(1_002_000) }, now).delayMs, 2_000);
  });

  it('§3.3 is not retried after a permanent failure', async () => {
    const lease = await farm.leased({ retry_max_attempts: 5 });
    await farm.node.fail(lease, { code: 'proxy: NODE_NOT_FOUND', cause: 'no such place', capture: null });
    assert.equal((await farm.read(lease.scan_id)).error, 'proxy: NODE_NOT_FOUND');
  });

  it('keeps its evidence if it is the last attempt, but not if it is retried', async () => {
    const picture = await webp();
    const lease = await farm.leased({ retry_max_attempts: 1 });
    const capture = captureOf(['https://loop.example/'], { artifacts: [named('landing-0.webp', picture)] });
    capture.landings[0]!.screenshot = 'landing-0.webp';
    const failure = { code: 'browser: CRASHED' as const, cause: 'it fell', capture };
    await farm.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
    await farm.node.fail(lease, failure);
    assert.equal((await farm.read(lease.scan_id)).capture, null);
    await untilDiscarded(lease.scan_id);

    await farm.makeDue(lease.scan_id);
    const again = await farm.acquireOne();
    await farm.node.upload(again, 'landing-0.webp', 'image/webp', picture);
    await farm.node.fail(again, failure);
    const scan = await farm.read(lease.scan_id);
    assert.equal(scan.status, 'failed');
    assert.equal((await farm.farm.evidenceOf(scan)).landings[0]?.final_url, 'https://loop.example/');
    const shown = await farm.farm.findPicture(scan, 0);
    assert.equal(shown?.bytes, picture.length);
  });

  it('ends even if its evidence contradicts itself', async () => {
    const lease = await farm.leased();
    const capture = captureOf(CHAIN, { artifacts: [named('landing-0.webp', Buffer.from('never uploaded'))] });
    await farm.node.fail(lease, { code: 'navigation: DOWNLOAD', cause: '', capture });
    const scan = await farm.read(lease.scan_id);
    assert.deepEqual([scan.status, scan.capture], ['failed', null]);
  });

  it('is retried after 2 s, then after twice as long each time up to 60 s, with jitter', () => {
    assert.deepEqual(
      [0, 1, 2, 5, 20].map((attempt) => backoffMs(attempt, 0)),
      [2_000, 4_000, 8_000, 60_000, 60_000],
    );
    assert.equal(backoffMs(0, 1), 1_000);
  });
});

describe('the end of an attempt', () => {
  it('is not undone by the adoption of a lease that was still running when it was read', async () => {
    const { dependencies } = farm.farm;
    const { scans } = dependencies;
    const adoptions = {
      'the refill': (end: () => Promise<unknown>) => {
        const pageInStatus: typeof scans.pageInStatus = async (status, ...page) => {
          const read = await scans.pageInStatus(status, ...page);
          if (status === 'running') await end();
          return read;
        };
        return refill({ ...dependencies, scans: { ...scans, pageInStatus } });
      },
      'a renewal': (end: () => Promise<unknown>, ref: LeaseRef) => {
        let isFirst = true;
        const membersOf: typeof scans.membersOf = async (of) => {
          const read = await scans.membersOf(of);
          if (isFirst) await end();
          isFirst = false;
          return read;
        };
        return renew({ ...dependencies, scans: { ...scans, membersOf } }, ref);
      },
    };
    for (const [name, adopt] of Object.entries(adoptions)) {
      const lease = await farm.leased();
      await farm.redis.client.flushall();
      await adopt(() => farm.node.complete(lease, captureOf(CHAIN)), parseLeaseId(lease.lease_id)!);
      assert.equal((await farm.farm.queue.depth()).leased, 0, name);
    }
  });

  const troubles = {
    fails: () => Promise.reject(new Error('no answer')),
    hangs: () => new Promise<never>(() => {}),
  };
  for (const [trouble, deleteBelow] of Object.entries(troubles))
    it(`does not wait for the object store, which ${trouble} while the evidence is discarded`, {
      timeout: 20_000,
    }, async (t) => {
      const openFiles = async (folder: string) => ({ ...(await openDiskObjects(folder)), deleteBelow });
      const troubled = await runningFarm({ openFiles });
      t.after(() => troubled.stop());
      const picture = await webp();
      const ends = [
        (lease: LeaseOfFirst) => troubled.node.fail(lease, { code: 'navigation: TIMEOUT', cause: '', capture: null }),
        (lease: LeaseOfFirst) => troubled.node.release(lease),
        (lease: LeaseOfFirst) => troubled.expireLease(lease.scan_id).then(troubled.reapNow),
      ];
      const scan = await troubled.submit({ retry_max_attempts: 1 });
      for (const end of ends) {
        const lease = await troubled.acquireOne();
        await troubled.node.upload(lease, 'landing-0.webp', 'image/webp', picture);
        await end(lease);
        await troubled.makeDue(scan._id);
      }
      const last = await troubled.acquireOne();
      const artifacts = [named('landing-0.webp', picture)];
      await assert.rejects(
        troubled.node.complete(last, captureOf(CHAIN, { artifacts })),
        (error) => error instanceof NodeApiError && error.status === 422,
        'a file of an earlier attempt is not one of this',
      );
      await troubled.node.complete(last, captureOf(CHAIN));
      const left = () => troubled.store.collection('artifacts').countDocuments({ scan_id: scan._id });
      assert.equal(await left(), ends.length);
      await troubled.sweepAll(new Date(Date.now() + 61 * 60_000));
      assert.equal(await left(), 0);
    });
});

describe('a lost node', () => {
  const lose = async (scanId: string) => {
    await farm.expireLease(scanId);
    await farm.reapNow();
    return farm.read(scanId);
  };
  const refundsOf = ({ outbox }: ScanRecord) => outbox.filter(({ kind }) => kind === 'refund');

  it('causes its scan to be queued again three times with growing delays and without a retry; then the scan fails and is refunded', async () => {
    const scan = await farm.submit({ retry_max_attempts: 2 });
    for (const isolation of ['shared', 'browser', 'node', 'node']) {
      const lease = await farm.acquireOne();
      assert.equal(lease.job.isolation, isolation);
      if (isolation === 'node') await farm.node.beginAlone(lease);
      assert.equal((await lose(scan._id)).retry_attempt, 0);
    }
    const failed = await farm.read(scan._id);
    assert.deepEqual([failed.status, failed.error, failed.lost_requeues], ['failed', 'node: LOST', 3]);
    assert.deepEqual(
      refundsOf(failed).map((entry) => 'amount_micros' in entry && entry.amount_micros),
      [PRICE_MICROS],
    );
  });

  it('is not attributed to a scan that was not alone on it, which ends after ten losses with an internal failure', async () => {
    const scan = await farm.submit();
    for (let losses = 1; losses <= 10; losses += 1) {
      await farm.acquireOne();
      const { status, lost_requeues } = await lose(scan._id);
      assert.deepEqual([status, lost_requeues], ['pending', losses]);
    }
    await farm.acquireOne();
    const failed = await lose(scan._id);
    assert.deepEqual([failed.status, failed.error, refundsOf(failed).length], ['failed', 'internal: ERROR', 1]);
  });

  it('affects other scans on it twice, after which the scan that crashes it runs alone', async () => {
    const hostile = await farm.submit();
    const innocents = [await farm.submit(), await farm.submit()];
    let lostNodes = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      const { leases } = await farm.node.acquire({ node_id: 'node', max: 3, wait_ms: 0 });
      const [first, ...others] = leases.filter(({ job }) => job.isolation === 'node');
      for (const lease of others) await farm.node.release(lease);
      const together = first ? [first] : leases;
      if (first) await farm.node.beginAlone(first);
      const isLost = together.some(({ scan_id }) => scan_id === hostile._id);
      lostNodes += isLost ? 1 : 0;
      for (const lease of together) {
        if (isLost) await lose(lease.scan_id);
        else await farm.node.complete(lease, captureOf(CHAIN));
      }
    }
    assert.equal(lostNodes, 4);
    const ended = await Promise.all([hostile, ...innocents].map(({ _id }) => farm.read(_id)));
    assert.deepEqual(
      ended.map(({ status, error, lost_requeues }) => [status, error, lost_requeues]),
      [
        ['failed', 'node: LOST', 3],
        ['crawled', '', 2],
        ['crawled', '', 2],
      ],
    );
  });

  it('gets 409 when it continues late, and nothing that it sends is stored', async () => {
    const late = await farm.leased();
    const picture = await webp();
    await farm.node.upload(late, 'landing-0.webp', 'image/webp', picture);
    await farm.expireLease(late.scan_id);
    await farm.reapNow();
    const now = await farm.acquireOne();
    const capture = captureOf(['https://late.example/'], { artifacts: [named('landing-0.webp', picture)] });
    await assert.rejects(farm.node.complete(late, capture), isLost);
    await assert.rejects(farm.node.fail(late, { code: 'browser: CRASHED', cause: '', capture }), isLost);
    await assert.rejects(farm.node.release(late), isLost);
    await assert.rejects(farm.node.beginAlone(late), isLost);
    await assert.rejects(farm.node.upload(late, 'landing-0.webp', 'image/webp', picture), isLost);
    assert.equal((await farm.node.renew(late)).outcome, 'lost');
    await untilDiscarded(late.scan_id);
    for (const call of ['alone', 'complete', 'fail', 'release', 'upload'])
      assert.equal(await farm.value('adsweep_late_results_total', { call }), 1, call);

    await farm.node.complete(now, captureOf(CHAIN));
    assert.equal((await farm.read(late.scan_id)).capture?.offer_url, CHAIN[0]);
    await assert.rejects(farm.node.complete(late, capture), isLost);
    assert.equal((await farm.read(late.scan_id)).capture?.offer_url, CHAIN[0], 'what was accepted stays');
  });
});

describe('a node that renews a lease for ever', () => {
  /** Makes a lease older: the fence has the time at which it was given. */
  const age = async (lease: LeaseOfFirst, seconds: number): Promise<LeaseOfFirst> => {
    const ref = parseLeaseId(lease.lease_id)!;
    const fence = ref.fence - seconds * 1_000_000;
    await farm.store
      .collection('scans')
      .updateMany({ job_id: ref.jobId, 'lease.fence': ref.fence }, { $set: { 'lease.fence': fence } });
    await farm.redis.client.hset(shardKeys(0).job(ref.jobId), 'fence', String(fence));
    const leaseId = leaseIdOf({ ...ref, fence });
    return { ...lease, lease_id: leaseId, token: leaseToken(farm.parts.leaseSecret, leaseId) };
  };

  it('§3.2 loses it at the end of the time for its attempt, and the scan is queued again as for a lost node', async () => {
    const before = await farm.value('adsweep_leases_total', { outcome: 'lost' });
    const { seconds, ticket_seconds } = JOB_LIMITS.page;
    const inTime = await age(await farm.leased(), seconds);
    assert.equal((await farm.node.renew(inTime)).outcome, 'renewed');
    const late = await age(inTime, ticket_seconds - seconds + 1);
    assert.deepEqual(await farm.node.renew(late), { outcome: 'lost', expires_in_ms: 0 });
    const scan = await farm.read(late.scan_id);
    assert.deepEqual([scan.status, scan.lost_requeues, scan.lease], ['pending', 1, null]);
    assert.equal(await farm.value('adsweep_leases_total', { outcome: 'lost' }), before + 1);
    await assert.rejects(farm.node.complete(late, captureOf(CHAIN)), isLost);
    assert.equal((await farm.acquireOne()).scan_id, scan._id);
  });

  it('has the time of one more attempt for each member that has ended', async () => {
    const first = await farm.submit({ job_kind: 'repeat_group' });
    const { organization_id, job_id } = first;
    for (const slot of [1, 2]) await farm.submit({ organization_id, job_id, job_kind: 'repeat_group', slot });
    const { ticket_seconds } = JOB_LIMITS.repeat_group;
    const lease = await age(await farm.acquireOne(), ticket_seconds + 1);
    await farm.node.complete({ ...lease, scan_id: first._id }, captureOf(CHAIN));
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    const late = await age(lease, ticket_seconds);
    assert.equal((await farm.node.renew(late)).outcome, 'lost');
    const members = await farm.scans.membersOf({ organizationId: organization_id, jobId: job_id });
    assert.deepEqual(members.map(({ status }) => status).sort(), ['crawled', 'pending', 'pending']);
  });

  it('may wait with a job that must be alone until another job can have ended', () => {
    const member = { status: 'running' as const, job_kind: 'page' as const, lease: { fence: 1 } as ScanLease };
    assert.equal(lifetimeMs([{ ...member, lost_requeues: 0 }], 1), 150_000);
    assert.equal(lifetimeMs([{ ...member, lost_requeues: 2 }], 1), 150_000 + 660_000);
  });

  it('lives as long as a page and 25 ads may take, however many ads of a sweep are gone', () => {
    const sweep = { status: 'running' as const, job_kind: 'sweep' as const, lease: { fence: 1 } as ScanLease };
    const gone = { ...sweep, status: 'failed' as const, lease: null, lost_requeues: 0 };
    const members = [{ ...sweep, lost_requeues: 0 }, ...Array<typeof gone>(100).fill(gone)];
    assert.equal(lifetimeMs(members, 1), 26 * 210_000);
  });
});

describe('a lease', () => {
  it('accepts one capture, and answers 204 again if it is repeated because the response was lost', async () => {
    const lease = await farm.leased();
    const capture = captureOf(CHAIN);
    await Promise.all([farm.node.complete(lease, capture), farm.node.complete(lease, capture)]);
    await farm.node.complete(lease, capture);
    const scan = await farm.read(lease.scan_id);
    assert.equal(scan.status, 'crawled');
    assert.ok((await farm.farm.evidenceOf(scan)).landings.length === 1);
    await assert.rejects(farm.node.fail(lease, { code: 'browser: CRASHED', cause: '', capture: null }), isLost);
    assert.ok(
      (await farm.farm.evidenceOf(scan)).landings.length === 1,
      'a failure reported afterwards takes nothing away',
    );
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
    const take: CrawlQueue['take'] = async (...asked) => {
      socket.destroyed = true;
      return dependencies.queue.take(...asked);
    };
    const routes = leaseRoutes({ ...dependencies, queue: { ...dependencies.queue, take } });
    const acquire = routes.find(({ path }) => path.endsWith('/acquire'));
    const caller = { node: newIdentity('gone', 1), lease: null };
    const request = { caller, body: { node_id: 'gone', max: 1, wait_ms: 0 }, stream: { socket } };
    const answer = await acquire?.handle(request as never);
    assert.deepEqual(answer?.body, { leases: [] });
    assert.equal((await farm.acquireOne()).scan_id, scan._id);
  });

  it('is not granted for a scan that was cancelled while it waited or while its retry was delayed', async () => {
    const scan = await farm.submit();
    const parts = { scans: farm.scans, unqueue: async () => {}, outboxFilled: () => {}, log: farm.parts.logger };
    await cancelScan(parts, scan, new Date());
    await assert.rejects(farm.acquireOne(), /no work/);
    assert.equal(await farm.redis.client.exists(shardKeys(0).job(scan._id)), 0, 'its job is forgotten');

    const lease = await farm.leased({ retry_max_attempts: 1 });
    await farm.node.fail(lease, { code: 'browser: CRASHED', cause: '', capture: null });
    await cancelScan(parts, await farm.read(lease.scan_id), new Date());
    await farm.makeDue(lease.scan_id);
    await assert.rejects(farm.acquireOne(), /no work/);
    assert.equal((await farm.node.renew(lease)).outcome, 'cancelled');
  });

  /** A capture of a page whose only response has this status. */
  const respondedWith = (status_code: number): Capture => {
    const capture = captureOf(CHAIN);
    const landings = capture.landings.map((landing) => {
      return { ...landing, redirect_chain: landing.redirect_chain.map((hop) => ({ ...hop, status_code })) };
    });
    return { ...capture, landings };
  };
  /** A capture of a page without any response, for which the gateway sent so many bytes. */
  const carrying = (bytes_sent: number): Capture => ({
    ...respondedWith(0),
    traffic: { bytes_sent, bytes_received: 0 },
  });
  const ofCreative = captureOf([], { landings: [], requests: [requestOf(1, { landing: null, surface: 'creative' })] });
  const FAILED: [code: FailureCode, what: string, capture: Capture | null, refunds: number][] = [
    ['navigation: DNS', 'without a capture', null, 1],
    ['proxy: NODE_BUSY', 'without a capture', null, 1],
    ['browser: CRASHED', 'without a capture', null, 1],
    ['browser: CRASHED', 'of a loaded page', captureOf(CHAIN), 0],
    ['browser: CRASHED', 'of a creative that had requested something', ofCreative, 0],
    ['navigation: CONNECTION_FAILED', "with the gateway's own response", respondedWith(594), 1],
    ['proxy: UPSTREAM_FAILED', 'with a ticket that the gateway refuses', respondedWith(407), 1],
    ['navigation: TIMEOUT', 'without a capture', null, 0],
    ['navigation: TIMEOUT', 'of a target that no connection was made to', carrying(0), 1],
    ['navigation: TIMEOUT', 'of a target that was sent a request', carrying(517), 0],
  ];
  for (const [code, what, capture, refunds] of FAILED)
    it(`§3.5 cancelled after ${code} ${what}, refunds ${refunds} charges`, async () => {
      const lease = await farm.leased({ retry_max_attempts: 2 });
      await farm.node.fail(lease, { code, cause: '', capture });
      await farm.makeDue(lease.scan_id);
      const again = await farm.acquireOne();
      await farm.node.fail(again, { code: 'navigation: DNS', cause: '', capture: null });
      const parts = { scans: farm.scans, unqueue: async () => {}, outboxFilled: () => {}, log: farm.parts.logger };
      assert.ok(await cancelScan(parts, await farm.read(lease.scan_id), new Date()));
      const { outbox } = await farm.read(lease.scan_id);
      assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, refunds);
    });

  /** How an attempt ends without a result. */
  const WITHOUT_RESULT: [how: string, end: (lease: LeaseOfFirst) => Promise<unknown>][] = [
    ['was released', (lease) => farm.node.release(lease)],
    [
      'was lost with its node',
      async (lease) => {
        await farm.expireLease(lease.scan_id);
        await farm.reapNow();
      },
    ],
  ];
  for (const [how, end] of WITHOUT_RESULT)
    it(`§3.5 cancelled after an attempt that ${how}, refunds the charge unless the node had reported that it loaded the target`, async () => {
      for (const [reports, refunds] of [
        [0, 1],
        [2, 0],
      ] as const) {
        const lease = await farm.leased();
        for (let report = 0; report < reports; report += 1) await farm.node.reportLoaded(lease);
        await end(lease);
        const parts = { scans: farm.scans, unqueue: farm.farm.unqueue, outboxFilled: () => {}, log: farm.parts.logger };
        assert.equal(await cancelScan(parts, await farm.read(lease.scan_id), new Date()), true);
        const { outbox } = await farm.read(lease.scan_id);
        assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, refunds);
        await assert.rejects(farm.node.reportLoaded(lease), isLost);
      }
    });

  it('is not ended by cancelling its scan', async () => {
    const lease = await farm.leased();
    const scan = await farm.read(lease.scan_id);
    const parts = { scans: farm.scans, unqueue: farm.farm.unqueue, outboxFilled: () => {}, log: farm.parts.logger };
    assert.equal(await cancelScan(parts, scan, new Date()), false);
    await farm.node.complete(lease, captureOf(CHAIN));
  });
});
