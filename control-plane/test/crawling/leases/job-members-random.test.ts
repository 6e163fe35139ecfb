import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

const SEED = 20261122;
const CAPTURE = captureOf(['https://shop.example/']);
const ENDED = new Set(['crawled', 'failed']);

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
after(() => farm.stop());

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const scans = () => farm.store.collection<ScanRecord>('scans').find({}).toArray();
const refunds = ({ outbox }: ScanRecord) => outbox.filter(({ kind }) => kind === 'refund').length;
const isOurs = (error: string) => ['node: LOST', 'internal: ERROR'].includes(error);
const isLost = (error: unknown) => {
  if (!(error instanceof NodeApiError && error.status === 409)) throw error;
};

const CAP = 3;
const discovery = { ad_formats: null, max_discovered_ads: CAP };
/** The ads of a page: sometimes one has made room for another. */
const slotsOf = (random: () => number) => [1, 2, random() < 0.8 ? 3 : 4];

async function submitJobs(): Promise<void> {
  for (let job = 0; job < 12; job += 1) {
    const id = newId();
    const shared = { organization_id: `organization-${job % 3}`, job_id: id, retry_max_attempts: 1 };
    const kind = job % 3 === 0 ? 'sweep' : 'repeat_group';
    for (let slot = 0; slot < (kind === 'sweep' ? 1 : 4); slot += 1)
      await farm.submit({
        ...shared,
        ...(kind === 'sweep' && { discovery }),
        ...{ _id: slot === 0 ? id : newId() },
        slot,
        job_kind: kind,
      });
  }
}

/** The actions of a node with a lease, until the node, Redis or the lease fails. */
async function work(lease: Lease, random: () => number): Promise<void> {
  const members = lease.job.members.map(({ scan_id }) => scan_id);
  const isSweeping = lease.job.kind === 'sweep' && members[0] === lease.job.job_id;
  if (lease.job.isolation === 'node') await farm.node.beginAlone(lease);
  let blocks = listedBlocks();
  if (isSweeping) {
    const found = slotsOf(random);
    const added = await farm.node.addMembers(lease, { members: adBlocks(...found) });
    if (random() < 0.2) return void (await farm.expireLease(lease.job.job_id));
    const listed = listedBlocks(...found);
    blocks = listed.filter((_, at) => ['leased', 'waiting', 'ended'].includes(added.members[at]!.state));
    for (const { member } of added.members)
      if (member && !members.includes(member.scan_id)) members.push(member.scan_id);
  }
  const captureOfMember = (id: string) =>
    isSweeping && id === lease.job.job_id ? { ...CAPTURE, ad_blocks: blocks } : CAPTURE;
  for (const scan_id of members) {
    const chance = random();
    const member = { ...lease, scan_id };
    if (chance < 0.1) return void (await farm.node.release(lease));
    if (chance < 0.25) return void (await farm.expireLease(lease.job.job_id));
    if (chance < 0.3) await farm.redis.client.flushall();
    if (chance < 0.4) await farm.node.fail(member, { code: 'browser: CRASHED', cause: '', capture: null });
    else await farm.node.complete(member, captureOfMember(scan_id));
    if (chance > 0.8) await farm.node.complete(member, captureOfMember(scan_id));
  }
}

it(
  `each member of a job ends once and is charged once despite random failures of nodes, leases and Redis (seed ${SEED})`,
  slow,
  async () => {
    const random = randomFrom(SEED);
    await submitJobs();
    const isOver = async () => (await scans()).every(({ status }) => ENDED.has(status));
    for (let turn = 0; turn < 400 && !(await isOver()); turn += 1) {
      const { leases } = await farm.node.acquire({ node_id: 'node', max: 3, wait_ms: 0 });
      await Promise.all(leases.map((lease) => work(lease, random).catch(isLost)));
      await farm.reapNow();
      await refill(farm.farm.dependencies);
      for (const id of await farm.redis.client.zrange(shardKeys(0).delayed, 0, '-1')) await farm.makeDue(id);
      // Leases that Redis has lost expire.
      if (turn % 10 === 9)
        for (const id of await farm.redis.client.zrange(shardKeys(0).leased, 0, '-1')) await farm.expireLease(id);
    }
    const ended = await scans();
    assert.deepEqual(
      [...new Set(ended.map(({ status }) => status))].filter((status) => !ENDED.has(status)),
      [],
    );
    assert.ok(ended.length > 12 && ended.some(({ lost_requeues }) => lost_requeues > 0));
    const sweeps = ended.filter((scan) => scan.discovery);
    for (const { _id } of sweeps) {
      const kept = ended.filter((scan) => scan.parent_scan_id === _id && refunds(scan) === 0);
      assert.ok(kept.length <= CAP, 'a sweep has no more ads than its cap');
    }
    for (const scan of ended) assert.equal(refunds(scan), scan.status === 'failed' && isOurs(scan.error) ? 1 : 0);
    for (const { _id, status, capture, outbox } of ended) {
      const captures = () => farm.store.collection('captures').countDocuments({ scan_id: _id });
      const hasCapture = status === 'crawled';
      assert.equal(capture !== null, hasCapture);
      await until('other captures to be discarded', async () => (await captures()) === (hasCapture ? 1 : 0));
      assert.equal(outbox.filter(({ kind }) => kind === 'charge').length, 1);
    }
    const slots = ended.map(({ job_id, slot }) => `${job_id}/${slot}`);
    assert.equal(new Set(slots).size, slots.length, 'each slot has one scan');
    assert.deepEqual(await farm.farm.queue.depth(), { waiting: { 0: 0, 1: 0, 2: 0 }, delayed: 0, leased: 0 });
  },
);
