import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { AdBlock } from '@adsweep/shared/capture/ad-block.ts';
import { derivedId, isId } from '@adsweep/shared/ids.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { AddMembers, Lease } from '@adsweep/shared/lease/messages.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { newOrganization, type OrganizationRecord } from '../../../src/accounts/organizations/organization.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { childScanId } from '../../../src/scanning/scans/request/new-child-scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';
import { CAPTURE, idsOf, jobMembers, memberOf, refusedWith, scansOf } from '../../support/job-members.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const { depth, complete, fail, statusOf, lose } = jobMembers(() => farm);

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
    farm.node.complete(memberOf(lease, sweep), { ...CAPTURE, ad_blocks: listedBlocks(...slots) });
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

  it('stores of its ads only known fields, also when they have moved', async () => {
    const [lease, sweep] = await leaseSweep();
    const withMore = (...blocks: AdBlock[]): AddMembers => ({
      members: blocks.map((block) => ({ ...block, unknown: 'x'.repeat(100_000) })),
    });
    const [known] = adBlocks(1);
    await farm.node.addMembers(lease, withMore(known!));
    assert.deepEqual((await children(sweep))[0]?.ad_block, known);
    await lose(lease);
    const moved = { ...known!, y: 9_000 };
    await farm.node.addMembers(await farm.acquireOne(), withMore(moved));
    assert.deepEqual((await children(sweep))[0]?.ad_block, moved);
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
    await assert.rejects(farm.node.complete(memberOf(lease, sweep), isScanned), refusedWith(422));
    await farm.node.complete(memberOf(lease, sweep), { ...CAPTURE, ad_blocks: [first!, second!, ...without] });
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
    await farm.node.complete(memberOf(lease, sweep), { ...CAPTURE, ad_blocks: [listed!, others[0]!, capped] });
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
      assert.equal(await cancelScan(cancelling, await farm.read(_id), new Date()), null);
    const again = await farm.acquireOne();
    assert.equal(scansOf(again).length, 3);
    await add(again, 1, 2);
    await completeSweep(again, sweep, 1, 2);
    await lose(again);
    const left = await children(sweep);
    const rest = await farm.acquireOne();
    assert.deepEqual(scansOf(rest), [left[0]!._id], 'after two losses each ad runs alone, without its sweep');
    await farm.node.fail(memberOf(rest, left[0]!), { code: 'ad_discovery: AD_GONE', cause: '', capture: null });
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

  /** Leases a sweep with three ads and takes this many steps; if there are more, the node is lost. */
  async function takeSteps(sweep: ScanRecord, most: number): Promise<void> {
    const lease = await farm.acquireOne();
    const members = new Set(scansOf(lease));
    const isSweeping = members.delete(sweep._id);
    if (lease.job.isolation === 'node') await farm.node.beginAlone(lease);
    let taken = 0;
    const isOver = () => taken++ >= most;
    if (isSweeping) {
      if (isOver()) return lose(lease);
      for (const one of await add(lease, 1, 2, 3)) if (one.member) members.add(one.member.scan_id);
      if (isOver()) return lose(lease);
      await completeSweep(lease, sweep, 1, 2, 3);
    }
    for (const scan_id of members) {
      if (isOver()) return lose(lease);
      await farm.node.complete({ ...lease, scan_id }, CAPTURE);
    }
  }

  it('§4.2.9 that is lost at any two moments has the same ads, each charged once and none left unfinished', async () => {
    for (let moments = 0; moments < 25; moments += 1) {
      const sweep = await farm.submit({ job_kind: 'sweep', discovery });
      for (const most of [Math.floor(moments / 5), moments % 5]) await takeSteps(sweep, most);
      while ((await depth()).waiting[0] > 0) await takeSteps(sweep, Number.POSITIVE_INFINITY);
      const found = await children(sweep);
      const ids = adBlocks(1, 2, 3).map((block) => childScanId(sweep._id, block));
      assert.deepEqual(idsOf(found), ids);
      for (const scan of [await farm.read(sweep._id), ...found])
        assert.deepEqual([scan.status, chargesOf(scan), refundsOf(scan)], ['crawled', 1, 0]);
    }
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
