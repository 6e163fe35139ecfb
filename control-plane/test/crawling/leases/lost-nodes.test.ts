import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { leaseIdOf, leaseToken, parseLeaseId } from '../../../src/crawling/fleet/credentials.ts';
import { lifetimeMs } from '../../../src/crawling/leases/lease-lifetime.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import type { ScanLease, ScanRecord } from '../../../src/scan/scan.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { captureOf, isLeaseLost, named, type RunningFarm, runningFarm, webp } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CHAIN = ['https://shop.example/'];

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

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

  it('affects other scans on it once, after which it runs one scan at a time until one has ended', async () => {
    const inOrder = { organization_id: 'one' };
    const hostile = await farm.submit(inOrder);
    const innocents = [await farm.submit(inOrder), await farm.submit(inOrder)];
    let lostNodes = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      const { leases } = await farm.node.acquire({ node_id: 'node', max: 3, wait_ms: 0 });
      const isAlone = ({ job }: LeaseOfFirst) => job.isolation === 'node';
      const [first, ...others] = leases.filter(isAlone);
      for (const lease of others) await farm.node.release(lease);
      // What must be alone begins when the others have ended.
      const open = [...leases.filter((lease) => !isAlone(lease)), ...(first ? [first] : [])];
      while (open.length > 0) {
        const together = isAlone(open[0]!) ? open.splice(0) : open.splice(0, open.length - (first ? 1 : 0));
        if (isAlone(together[0]!)) await farm.node.beginAlone(together[0]!);
        const isLost = together.some(({ scan_id }) => scan_id === hostile._id);
        lostNodes += isLost ? 1 : 0;
        for (const lease of isLost ? [...together, ...open.splice(0)] : together) {
          if (isLost) await lose(lease.scan_id);
          else await farm.node.complete(lease, captureOf(CHAIN));
        }
      }
    }
    assert.equal(lostNodes, 4);
    const ended = await Promise.all([hostile, ...innocents].map(({ _id }) => farm.read(_id)));
    assert.deepEqual(
      ended.map(({ status, error, lost_requeues }) => [status, error, lost_requeues]),
      [
        ['failed', 'node: LOST', 3],
        ['crawled', '', 1],
        ['crawled', '', 1],
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
    await assert.rejects(farm.node.complete(late, capture), isLeaseLost);
    await assert.rejects(farm.node.fail(late, { code: 'browser: CRASHED', cause: '', capture }), isLeaseLost);
    await assert.rejects(farm.node.release(late), isLeaseLost);
    await assert.rejects(farm.node.beginAlone(late), isLeaseLost);
    await assert.rejects(farm.node.upload(late, 'landing-0.webp', 'image/webp', picture), isLeaseLost);
    assert.equal((await farm.node.renew(late)).outcome, 'lost');
    await farm.untilDiscarded(late.scan_id);
    for (const call of ['alone', 'complete', 'fail', 'release', 'upload'])
      assert.equal(await farm.value('adsweep_late_results_total', { call }), 1, call);

    await farm.node.complete(now, captureOf(CHAIN));
    assert.equal((await farm.read(late.scan_id)).capture?.offer_url, CHAIN[0]);
    await assert.rejects(farm.node.complete(late, capture), isLeaseLost);
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
    await assert.rejects(farm.node.complete(late, captureOf(CHAIN)), isLeaseLost);
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
