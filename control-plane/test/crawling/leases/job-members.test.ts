import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { CAPTURE, idsOf, jobMembers, refusedWith, scansOf } from '../../support/job-members.ts';
import { captureOf, type RunningFarm, runningFarm, sampleLandings, webp } from '../../support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const { depth, complete, fail, statusOf, lose } = jobMembers(() => farm);

/** A job with this number of pending scans. */
async function submitJob(count: number, changes: Partial<ScanRecord> = {}): Promise<ScanRecord[]> {
  const first = await farm.submit({ job_kind: 'repeat_group', ...withJob(newId()), ...changes });
  const shared = { ...changes, organization_id: first.organization_id, job_id: first._id, job_kind: first.job_kind };
  const others = Array.from({ length: count - 1 }, (_, at) => farm.submit({ ...shared, slot: at + 1 }));
  return [first, ...(await Promise.all(others))];
}
const withJob = (id: string) => ({ _id: id, job_id: id });

describe('a job of several scans', () => {
  it('has one lease, under which each member ends separately', async () => {
    const scans = await submitJob(3);
    assert.deepEqual(await depth(), { waiting: { 0: 1, 1: 0, 2: 0 }, delayed: 0, leased: 0 });
    const lease = await farm.acquireOne();
    assert.deepEqual(scansOf(lease), idsOf(scans));
    assert.deepEqual(lease.job.limits, JOB_LIMITS.repeat_group);
    await complete(lease, scans[0]!);
    await fail(lease, scans[1]!, 'navigation: DNS');
    assert.deepEqual(await statusOf(scans), ['crawled', 'failed', 'running']);
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    await complete(lease, scans[2]!);
    assert.deepEqual(await statusOf(scans), ['crawled', 'failed', 'crawled']);
    assert.deepEqual(await depth(), { waiting: { 0: 0, 1: 0, 2: 0 }, delayed: 0, leased: 0 });
    assert.equal((await farm.node.renew(lease)).outcome, 'lost');
    for (const { outbox } of await Promise.all(scans.map(({ _id }) => farm.read(_id))))
      assert.equal(outbox.filter(({ kind }) => kind === 'charge').length, 1);
  });

  it('is queued again when its lease has ended if a member is retried', async () => {
    const scans = await submitJob(3, { retry_max_attempts: 1 });
    const lease = await farm.acquireOne();
    await fail(lease, scans[0]!);
    assert.equal((await depth()).delayed, 0, 'the others are under way');
    await complete(lease, scans[1]!);
    await complete(lease, scans[2]!);
    assert.equal((await depth()).delayed, 1);
    await farm.makeDue(lease.job.job_id);
    const again = await farm.acquireOne();
    assert.deepEqual(scansOf(again), [scans[0]!._id]);
    assert.equal(again.job.members[0]?.attempt, 1);
    await complete(again, scans[0]!);
    assert.deepEqual(await statusOf(scans), ['crawled', 'crawled', 'crawled']);
  });

  it('§4.2.24 is a shared session only of those members that ran with all the others', async () => {
    const sessions = async (scans: ScanRecord[]) =>
      Promise.all(scans.map(async ({ _id }) => (await farm.read(_id)).repeat?.session_id ?? null));
    const repeats = (count: number, changes: Partial<ScanRecord> = {}) =>
      submitJob(count, { repeat: { index: 0, total: count, session_id: 'session' }, ...changes });
    const completeAll = async (scans: ScanRecord[], lease: Awaited<ReturnType<RunningFarm['acquireOne']>>) => {
      for (const scan of scans) await complete(lease, scan);
    };

    const [leader, second, third] = (await repeats(3, { retry_max_attempts: 1 })) as [
      ScanRecord,
      ScanRecord,
      ScanRecord,
    ];
    const first = await farm.acquireOne();
    await fail(first, second);
    await completeAll([leader, third], first);
    await farm.makeDue(first.job.job_id);
    const retry = await farm.acquireOne();
    await complete(retry, second);
    assert.deepEqual(await sessions([leader, second, third]), ['session', null, 'session']);

    const lost = await repeats(2);
    await lose(await farm.acquireOne());
    await completeAll(lost, await farm.acquireOne());
    assert.deepEqual(await sessions(lost), ['session', 'session'], 'all of them ran again in one browser');

    const [kept, cancelled] = (await repeats(2)) as [ScanRecord, ScanRecord];
    const parts = { scans: farm.scans, unqueue: farm.farm.unqueue, outboxFilled: () => {}, log: farm.parts.logger };
    await cancelScan(parts, cancelled, new Date());
    await complete(await farm.acquireOne(), kept);
    assert.deepEqual(await sessions([kept]), ['session'], 'a cancelled member runs nowhere');
  });

  it('repeats only the members that had not ended after a crash', async () => {
    const scans = await submitJob(3);
    const late = await farm.acquireOne();
    await complete(late, scans[0]!);
    await lose(late);
    assert.deepEqual(await statusOf(scans), ['crawled', 'pending', 'pending']);
    const lease = await farm.acquireOne();
    assert.deepEqual([scansOf(lease), lease.job.isolation], [idsOf(scans.slice(1)), 'browser']);
    await assert.rejects(complete(late, scans[1]!), refusedWith(409));
    await complete(late, scans[0]!);
    for (const scan of scans.slice(1)) await complete(lease, scan);
    assert.deepEqual(await statusOf(scans), ['crawled', 'crawled', 'crawled']);
    for (const { _id } of scans)
      assert.equal(await farm.store.collection('captures').countDocuments({ scan_id: _id }), 1);
  });

  it('is queued again by the reaper when a control plane died between two members', async () => {
    const scans = await submitJob(3);
    const lease = await farm.acquireOne();
    const waiting = { $set: { status: 'pending' as const, lease: null, lost_requeues: 1 } };
    await farm.store.collection<ScanRecord>('scans').updateOne({ _id: scans[0]!._id }, waiting);
    await farm.redis.client.flushall();
    await refill(farm.farm.dependencies);
    assert.deepEqual(
      await depth(),
      { waiting: { 0: 0, 1: 0, 2: 0 }, delayed: 0, leased: 1 },
      'the lease is adopted first',
    );
    await lose(lease);
    assert.deepEqual(scansOf(await farm.acquireOne()), idsOf(scans));
  });

  it('is released with the members that had not ended, and can be renewed if Redis has lost it', async () => {
    const scans = await submitJob(3);
    const lease = await farm.acquireOne();
    await complete(lease, scans[1]!);
    await farm.redis.client.flushall();
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    assert.equal((await depth()).leased, 1);
    await farm.node.release(lease);
    assert.deepEqual(scansOf(await farm.acquireOne()), [scans[0]!._id, scans[2]!._id]);
  });

  it('leaves the queue when its last pending member is cancelled', async () => {
    const scans = await submitJob(2);
    const { farm: parts, scans: store } = farm;
    const cancelling = { scans: store, unqueue: parts.unqueue, outboxFilled: () => {}, log: farm.parts.logger };
    await cancelScan(cancelling, scans[0]!, new Date());
    const lease = await farm.acquireOne();
    assert.deepEqual(scansOf(lease), [scans[1]!._id]);
    await farm.node.release(lease);
    await cancelScan(cancelling, await farm.read(scans[1]!._id), new Date());
    await until('the job to be gone', async () => (await depth()).waiting[0] === 0);
    assert.equal((await farm.node.renew(lease)).outcome, 'cancelled');
  });

  it('runs each member alone on a node after two losses, so that only the one that crashes nodes fails', async () => {
    const scans = await submitJob(3);
    const hostile = scans[1]!;
    for (let leases = 0; leases < 20 && (await depth()).waiting[0] > 0; leases += 1) {
      const lease = await farm.acquireOne();
      if (lease.job.isolation === 'node') {
        assert.equal(lease.job.members.length, 1);
        await farm.node.beginAlone(lease);
      }
      for (const id of scansOf(lease)) {
        if (id === hostile._id) await lose(lease);
        if (id === hostile._id) break;
        await farm.node.complete({ ...lease, scan_id: id }, CAPTURE);
      }
    }
    assert.deepEqual(await statusOf(scans), ['crawled', 'failed', 'crawled']);
    assert.equal((await farm.read(hostile._id)).error, 'node: LOST');
  });

  it('leases members again that an earlier lease left running', async () => {
    const scans = await submitJob(2);
    const lease = { fence: 1, node_id: 'gone', leased_at: new Date() };
    const left = { $set: { status: 'running' as const, lease } };
    await farm.store.collection<ScanRecord>('scans').updateOne({ _id: scans[1]!._id }, left);
    assert.deepEqual(scansOf(await farm.acquireOne()), idsOf(scans));
    assert.equal((await farm.read(scans[1]!._id)).lost_requeues, 1);
  });
});

describe('a lease', () => {
  it('gives no access to a scan of another job, even if that has the same fence', async () => {
    const [own, other] = [await farm.submit(), await farm.submit()];
    const { leases } = await farm.node.acquire({ node_id: 'node', max: 2, wait_ms: 0 });
    const lease = leases.find(({ scan_id }) => scan_id === own._id)!;
    const fence = Number(lease.lease_id.split('.')[0]);
    const scans = farm.store.collection<ScanRecord>('scans');
    const sameOrganization = await farm.submit({ organization_id: own.organization_id });
    for (const { _id } of [other, sameOrganization]) {
      const leased = { fence, node_id: 'node', leased_at: new Date() };
      await scans.updateOne({ _id }, { $set: { status: 'running', lease: leased } });
      const foreign = { ...lease, scan_id: _id };
      const isUnknown = refusedWith(404);
      await assert.rejects(farm.node.complete(foreign, CAPTURE), isUnknown);
      await assert.rejects(farm.node.fail(foreign, { code: 'browser: CRASHED', cause: '', capture: null }), isUnknown);
      await assert.rejects(farm.node.upload(foreign, 'landing-0.webp', 'image/webp', await webp()), isUnknown);
      assert.deepEqual([(await farm.read(_id)).status, await farm.objectsOf(foreign)], ['running', []]);
    }
    await assert.rejects(farm.node.complete({ ...lease, scan_id: newId() }, CAPTURE), refusedWith(404));
    await assert.rejects(farm.node.complete({ ...lease, scan_id: '..' }, CAPTURE), NodeApiError);
    await farm.node.complete(lease, CAPTURE);
  });

  it('accepts no more landings than the kind of its job allows', async () => {
    const { landings } = JOB_LIMITS.page;
    await farm.submit();
    const lease = await farm.acquireOne();
    const capture = (count: number) => captureOf(['https://shop.example/'], { landings: sampleLandings(count) });
    await assert.rejects(farm.node.complete(lease, capture(landings + 1)), refusedWith(422));
    await farm.node.complete(lease, capture(landings));
  });
});
