import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { derivedId, isId, newId } from '@adsweep/shared/ids.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { AddMembers, Lease } from '@adsweep/shared/lease/messages.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { newOrganization, type OrganizationRecord } from '../../../src/accounts/organizations/organization.ts';
import { reap } from '../../../src/crawling/leases/reaper.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { captureOf, type RunningFarm, runningFarm, sampleLandings, webp } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CAPTURE = captureOf(['https://shop.example/']);
const refusedWith = (status: number) => (error: unknown) => error instanceof NodeApiError && error.status === status;

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const depth = () => farm.farm.queue.depth();
const member = (lease: Lease, { _id }: Pick<ScanRecord, '_id'>) => ({ ...lease, scan_id: _id });
const complete = (lease: Lease, scan: ScanRecord) => farm.node.complete(member(lease, scan), CAPTURE);
const fail = (lease: Lease, scan: ScanRecord, code: 'navigation: DNS' | 'browser: CRASHED' = 'browser: CRASHED') =>
  farm.node.fail(member(lease, scan), { code, cause: '', capture: null });
const scansOf = (lease: Lease) => lease.job.members.map(({ scan_id }) => scan_id);
const idsOf = (scans: ScanRecord[]) => scans.map(({ _id }) => _id);
const statusOf = async (scans: { _id: string }[]) =>
  (await Promise.all(scans.map(({ _id }) => farm.read(_id)))).map(({ status }) => status);
async function lose({ job }: Lease): Promise<void> {
  await farm.expireLease(job.job_id);
  await reap(farm.farm.dependencies, new Date());
}

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

describe('a sweep', () => {
  const found = (...slots: number[]): AddMembers => ({ members: adBlocks(...slots) });
  const discovery = { ad_formats: null, max_discovered_ads: 25 };
  const leaseSweep = async (changes: Partial<ScanRecord> = {}): Promise<[LeaseOfFirst, ScanRecord]> => {
    const sweep = await farm.submit({ job_kind: 'sweep', discovery, ...changes });
    return [await farm.acquireOne(), sweep];
  };
  const add = async (lease: Lease, ...slots: number[]) => (await farm.node.addMembers(lease, found(...slots))).members;
  const children = ({ _id }: ScanRecord) =>
    farm.store.collection<ScanRecord>('scans').find({ parent_scan_id: _id }).sort({ slot: 1 }).toArray();
  const completeSweep = (lease: Lease, sweep: ScanRecord, ...slots: number[]) =>
    farm.node.complete(member(lease, sweep), { ...CAPTURE, ad_blocks: listedBlocks(...slots) });
  const refundsOf = ({ outbox }: ScanRecord) => outbox.filter(({ kind }) => kind === 'refund').length;
  const chargesOf = ({ outbox }: ScanRecord) => outbox.filter(({ kind }) => kind === 'charge').length;

  it('adds the ads that it finds to its job, each running, created once and charged once', async () => {
    const changes = { labels: { team: 'ads' }, ignore_first_n_domains: 2, campaign_id: 'campaign', band: 1 as const };
    const [lease, sweep] = await leaseSweep(changes);
    const answers = await Promise.all([add(lease, 1, 2), add(lease, 1, 2)]);
    const [first, second] = await children(sweep);
    for (const { identity, state, member: leased } of answers.flat()) {
      assert.deepEqual([state, leased?.scan_id], ['leased', derivedId(`${sweep._id}/${identity}`, 0)]);
      assert.deepEqual([leased?.ad_block?.identity, leased?.target], [identity, sweep.target]);
    }
    assert.ok(first && second && isId(first._id));
    assert.equal((await children(sweep)).length, 2);
    for (const child of [first, second]) {
      assert.deepEqual([child.status, child.job_id, chargesOf(child)], ['running', sweep._id, 1]);
      assert.partialDeepStrictEqual(child, changes);
      assert.deepEqual([child.referrer, child.target], [sweep.referrer, sweep.target]);
    }
    await completeSweep(lease, sweep, 1, 2);
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed', 'its children are under way');
    await complete(lease, first);
    await fail(lease, second, 'navigation: DNS');
    assert.deepEqual(await statusOf([sweep, first, second]), ['crawled', 'crawled', 'failed']);
    assert.deepEqual(await depth(), { waiting: { 0: 0, 1: 0, 2: 0 }, delayed: 0, leased: 0 });
  });

  it('§4.2.9 creates and charges nothing twice when it is interrupted and repeated', async () => {
    const [lease, sweep] = await leaseSweep();
    await add(lease, 1, 2, 3);
    const before = await children(sweep);
    await complete(lease, before[0]!);
    await lose(lease);
    const again = await farm.acquireOne();
    assert.deepEqual(scansOf(again), [sweep._id, before[1]!._id, before[2]!._id]);
    const states = (await add(again, 1, 2, 3, 4)).map(({ state }) => state);
    assert.deepEqual(states, ['ended', 'leased', 'leased', 'leased']);
    await assert.rejects(add(lease, 5), refusedWith(409));
    const after = await children(sweep);
    assert.deepEqual(idsOf(after.slice(0, 3)), idsOf(before));
    const relay = farm.startLoops();
    const organization = sweep.organization_id;
    const charges = () => farm.ledgerOf(organization);
    await until('the charges', async () => (await charges()).length === 5);
    await relay.stop();
    const expected = [sweep, ...after].map(({ _id }) => [`charge:${_id}`, -PRICE_MICROS]);
    assert.deepEqual((await charges()).sort(), expected.sort());
  });

  it('§5.9 adds no more ads than the organization may check, even if they are sent repeatedly', async () => {
    const organization = newOrganization({ _id: 'limited', name: 'Limited' }, new Date());
    const limited = { ...organization, quotas: { ...organization.quotas, checks_per_month: 2 } };
    await farm.store.collection<OrganizationRecord>('organizations').insertOne(limited);
    const [lease, sweep] = await leaseSweep({ organization_id: 'limited' });
    await Promise.all([add(lease, 1), add(lease, 1), add(lease, 1)]);
    const answers = await add(lease, 1, 2, 3, 4);
    assert.deepEqual(
      answers.map(({ state, member }) => [state, member !== null]),
      [
        ['leased', true],
        ['leased', true],
        ['quota', false],
        ['quota', false],
      ],
    );
    assert.equal((await children(sweep)).length, 2);
    const [first, second, ...others] = listedBlocks(1, 2, 3, 4);
    const without = others.map((block) => ({ ...block, not_scanned: 'quota' as const }));
    const isScanned = { ...CAPTURE, ad_blocks: [first!, second!, ...others] };
    await assert.rejects(farm.node.complete(member(lease, sweep), isScanned), refusedWith(422));
    await farm.node.complete(member(lease, sweep), { ...CAPTURE, ad_blocks: [first!, second!, ...without] });
    for (const scan of await children(sweep)) await complete(lease, scan);
  });

  it('leases members again that its earlier lease left running, but not those that wait', async () => {
    const [lease, sweep] = await leaseSweep();
    await add(lease, 1, 2);
    const [left, waiting] = await children(sweep);
    const scans = farm.store.collection<ScanRecord>('scans');
    await scans.updateOne({ _id: left!._id }, { $set: { 'lease.fence': 1 } });
    await scans.updateOne({ _id: waiting!._id }, { $set: { status: 'pending', lease: null } });
    const states = (await add(lease, 1, 2)).map(({ state }) => state);
    assert.deepEqual(states, ['leased', 'waiting']);
    await complete(lease, left!);
    await completeSweep(lease, sweep, 1, 2);
    assert.equal((await depth()).waiting[0], 1);
  });

  it('adds no more members than its kind allows, and other kinds of jobs add none', async () => {
    const [lease, sweep] = await leaseSweep();
    for (const slot of [0, 101, 1.5]) await assert.rejects(add(lease, slot), refusedWith(422), String(slot));
    const tooMany = Array.from({ length: JOB_LIMITS.sweep.added_members + 1 }, (_, at) => at + 1);
    await assert.rejects(add(lease, ...tooMany), refusedWith(422));
    await assert.rejects(add(lease, 1, 1), refusedWith(422), 'an identity twice');
    await assert.rejects(farm.node.addMembers({ ...lease, token: 'wrong' }, found(1)), refusedWith(401));
    await farm.submit();
    await assert.rejects(add(await farm.acquireOne(), 1), refusedWith(422));
    assert.equal((await children(sweep)).length, 0);
    await complete(lease, sweep);
    await assert.rejects(add(lease, 1), refusedWith(409), 'a sweep that has ended');
  });

  it('§4.2.5 adds only ads of its formats, and §4.2.3 no more than its own cap', async () => {
    const [lease, sweep] = await leaseSweep({ discovery: { ad_formats: ['pop'], max_discovered_ads: 2 } });
    await assert.rejects(add(lease, 1), refusedWith(422));
    const pops = adBlocks(1, 2, 3).map((block) => ({ ...block, ad_kind: 'pop' as const }));
    await assert.rejects(farm.node.addMembers(lease, { members: pops }), refusedWith(422));
    await farm.node.addMembers(lease, { members: pops.slice(0, 2) });
    const [pop] = await children(sweep);
    assert.deepEqual([(await children(sweep)).length, pop?.network, pop?.network_host], [2, 'Example Ads', '']);
    const [listed, ...others] = pops.map((block) => ({ ...block, not_scanned: null }));
    const capped = { ...others[1]!, not_scanned: 'cap' as const };
    await farm.node.complete(member(lease, sweep), { ...CAPTURE, ad_blocks: [listed!, others[0]!, capped] });
  });

  it('ends the scans of ads that it no longer names, refunded once, and keeps those that have a result', async () => {
    const [lease, sweep] = await leaseSweep({ discovery: { ad_formats: null, max_discovered_ads: 3 } });
    await add(lease, 1, 2, 3);
    const [first, second, third] = await children(sweep);
    await complete(lease, first!);
    await lose(lease);
    const again = await farm.acquireOne();
    const moved = { ...adBlocks(3)[0]!, slot_index: 0, y: 5 };
    const { members } = await farm.node.addMembers(again, { members: [moved, ...adBlocks(4, 5)] });
    assert.deepEqual(
      members.map(({ state }) => state),
      ['leased', 'leased', 'cap'],
      'one that has its result counts',
    );
    await farm.node.addMembers(again, { members: [moved, ...adBlocks(4)] });
    const gone = await farm.read(second!._id);
    assert.deepEqual([gone.status, gone.error, refundsOf(gone), gone.lease], ['failed', 'node: LOST', 1, null]);
    const placed = await farm.read(third!._id);
    assert.deepEqual([placed.status, placed.slot, placed.ad_block], ['running', 1, moved]);
    assert.equal((await farm.read(first!._id)).status, 'crawled');
    await assert.rejects(completeSweep(again, sweep, 1, 3), refusedWith(422), 'an ad that runs is not listed');
    await completeSweep(again, sweep, 1, 3, 4);
    for (const child of await children(sweep)) if (child.status === 'running') await complete(again, child);
    assert.deepEqual(await statusOf(await children(sweep)), ['crawled', 'crawled', 'failed', 'crawled']);
  });

  it('§3.5 cannot be cancelled once it has ads, and neither can they; it runs again as a whole', async () => {
    const [lease, sweep] = await leaseSweep();
    await add(lease, 1, 2);
    await lose(lease);
    const [child] = await children(sweep);
    const { farm: parts, scans: store } = farm;
    const cancelling = { scans: store, unqueue: parts.unqueue, outboxFilled: () => {}, log: farm.parts.logger };
    for (const { _id } of [sweep, child!])
      assert.equal(await cancelScan(cancelling, await farm.read(_id), new Date()), false);
    const again = await farm.acquireOne();
    assert.equal(scansOf(again).length, 3);
    await add(again, 1, 2);
    await completeSweep(again, sweep, 1, 2);
    await lose(again);
    const left = await children(sweep);
    const rest = await farm.acquireOne();
    assert.deepEqual(scansOf(rest), [left[0]!._id], 'after two losses each ad runs alone, without its sweep');
    await farm.node.fail(member(rest, left[0]!), { code: 'ad_discovery: AD_GONE', cause: '', capture: null });
    await complete(await farm.acquireOne(), left[1]!);
    const ends = await children(sweep);
    assert.deepEqual(
      ends.map((scan) => [scan.status, scan.error, chargesOf(scan), refundsOf(scan)]),
      [
        ['failed', 'node: LOST', 1, 1],
        ['crawled', '', 1, 0],
      ],
    );
  });

  it('§3.2 is retried after a transient failure with its ads, which are never retried themselves', async () => {
    const [lease, sweep] = await leaseSweep({ retry_max_attempts: 1 });
    await add(lease, 1);
    await fail(lease, sweep);
    await farm.node.release(lease);
    await farm.makeDue(sweep._id);
    const again = await farm.acquireOne();
    const [child] = await children(sweep);
    assert.deepEqual(scansOf(again), [sweep._id, child!._id]);
    assert.equal((await add(again, 1))[0]?.state, 'leased');
    await completeSweep(again, sweep, 1);
    await fail(again, child!);
    assert.deepEqual(await statusOf([sweep, child!]), ['crawled', 'failed']);
    assert.deepEqual([refundsOf(await farm.read(child!._id)), (await children(sweep)).length], [0, 1]);
  });

  it('of a node that names ever new ads has no more of them than its cap at a time, and 100 in all', async () => {
    const cap = 5;
    const [lease, sweep] = await leaseSweep({ discovery: { ad_formats: null, max_discovered_ads: cap } });
    const identity = (round: number, at: number) => (round * cap + at).toString(16).padStart(32, '0');
    const round = (number: number): AddMembers => ({
      members: adBlocks(1, 2, 3, 4, 5).map((block, at) => ({ ...block, identity: identity(number, at) })),
    });
    for (let number = 0; number < 24; number += 2) {
      await Promise.all([farm.node.addMembers(lease, round(number)), farm.node.addMembers(lease, round(number + 1))]);
      const running = (await children(sweep)).filter(({ status }) => status === 'running');
      assert.ok(running.length <= cap, `${running.length} ads`);
    }
    const all = await children(sweep);
    assert.ok(all.length <= 100 && all.length > 50, `${all.length} scans`);
    for (const child of all)
      assert.deepEqual([chargesOf(child), refundsOf(child)], [1, child.status === 'running' ? 0 : 1]);
    await farm.node.addMembers(lease, { members: [] });
    await complete(lease, sweep);
    assert.ok((await children(sweep)).every(({ status }) => status === 'failed'));
  });
});
