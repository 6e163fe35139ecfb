import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { removeOld } from '../../../src/crawling/retention/remove-old.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import { recheckScans } from '../../../src/scan/recheck.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { adBlocks, listedBlocks } from '../../support/ad-blocks.ts';
import { addRule, checkCrawled, LOUD, RECHECK_FAKES, slugsOf } from '../../support/checked-scans.ts';
import { memberOf } from '../../support/job-members.ts';
import { captureOf, type RunningFarm, requestOf, runningFarm } from '../../support/running-farm.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SHOP = 'https://shop.example/';
const AD_SERVER = 'https://ads.example/creative';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(async () => {
  await farm.forgetScans();
  for (const collection of ['events', 'ledger_entries', 'captures', 'retention'])
    await farm.store.collection(collection).deleteMany({});
});
after(() => farm.stop());

const work = async () => {
  while ((await checkCrawled(farm)) > 0);
  while ((await relay(farm.farm.dependencies, new Date())).entries > 0);
};

/**
 * A sweep with two ads, of which the second one plays sound; all three have ended. `adsEnd`: runs between the end of
 * the page and of the ads.
 */
async function endedSweep(adsEnd = async () => {}): Promise<[ScanRecord, ScanRecord, ScanRecord]> {
  const { _id } = await farm.submit({ job_kind: 'sweep', discovery: { ad_formats: null, max_discovered_ads: 12 } });
  const lease = await farm.acquireOne();
  const { members } = await farm.node.addMembers(lease, { members: adBlocks(1, 2) });
  const [first, second] = members.map(({ member }) => member!.scan_id);
  await farm.node.complete(memberOf(lease, { _id }), { ...captureOf([SHOP]), ad_blocks: listedBlocks(1, 2) });
  await adsEnd();
  const requests = [requestOf(0, { url: AD_SERVER })];
  await farm.node.complete({ ...lease, scan_id: first! }, captureOf([SHOP], { requests }));
  await farm.node.complete({ ...lease, scan_id: second! }, captureOf([SHOP], { observations: [LOUD] }));
  await work();
  return [await farm.read(_id), await farm.read(first!), await farm.read(second!)];
}

describe('a sweep that has ended', () => {
  it(
    '§3.8 is rechecked without a crawl, as are the scans of its ads, each by its own evidence and without a charge',
    slow,
    async () => {
      const [sweep, first, second] = await endedSweep();
      assert.deepEqual([slugsOf(sweep), slugsOf(first), slugsOf(second)], [[], [], ['autosound']]);
      const charged = await farm.ledgerOf(sweep.organization_id);
      assert.equal(charged.length, 3);
      await addRule(farm, first, 'creative', { rule_type: 'regexp_request_url', config: { pattern: '/creative$' } });
      const parts = { scans: farm.scans, ...RECHECK_FAKES };
      assert.equal(await recheckScans(parts, sweep.organization_id, { newest: 10 }, newId()), 3);
      await work();
      const again = await Promise.all([sweep, first, second].map(({ _id }) => farm.read(_id)));
      assert.deepEqual(again.map(slugsOf), [[], ['creative'], ['autosound']]);
      for (const [at, was] of [sweep, first, second].entries()) {
        const { status, capture, ad_block, parent_scan_id, completed_at } = again[at]!;
        assert.equal(status, 'completed');
        assert.deepEqual(
          { capture, ad_block, parent_scan_id, completed_at },
          {
            capture: was.capture,
            ad_block: was.ad_block,
            parent_scan_id: was.parent_scan_id,
            completed_at: was.completed_at,
          },
        );
      }
      assert.deepEqual(await farm.ledgerOf(sweep.organization_id), charged);
      assert.equal((await farm.node.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 })).leases.length, 0, 'no crawl');
    },
  );

  it('§4.1 emits the events of its page before its ads have ended, and those of each ad once, under its own id', async () => {
    const kinds = async () =>
      (await farm.store.collection<{ _id: string; scan_id: string; kind: string }>('events').find({}).toArray())
        .map(({ scan_id, kind }) => `${scan_id} ${kind}`)
        .sort();
    let ofPage: string[] = [];
    const [sweep, first, second] = await endedSweep(async () => {
      await work();
      ofPage = await kinds();
    });
    assert.deepEqual(ofPage, [`${sweep._id} scanning.scan.completed`]);
    const expected = [
      ...[sweep, first, second].map(({ _id }) => `${_id} scanning.scan.completed`),
      `${second._id} scanning.tags.detected`,
    ];
    assert.deepEqual(await kinds(), expected.sort());
  });

  it('is removed when its own retention is over; the scans of its ads keep their place, and are removed in their turn', async () => {
    const [sweep, first, second] = await endedSweep();
    const later = new Date(sweep.completed_at!.getTime() + DAY_MS);
    for (const { _id } of [first, second])
      await farm.store.collection<ScanRecord>('scans').updateOne({ _id }, { $set: { completed_at: later } });
    const removeUntil = async (days: number) => {
      const now = new Date(sweep.completed_at!.getTime() + days * DAY_MS);
      while ((await removeOld(farm.farm.dependencies, { scans: 30, evidence: 0 }, now)) > 0);
    };
    const left = async () => ({
      scans: (await farm.store.collection<ScanRecord>('scans').find({}).toArray()).map(({ _id }) => _id).sort(),
      captures: await farm.store.collection('captures').countDocuments({}),
    });
    await removeUntil(30.5);
    assert.deepEqual(await left(), { scans: [first._id, second._id].sort(), captures: 2 });
    const child = await farm.read(first._id);
    assert.deepEqual([child.ad_block, child.parent_scan_id], [first.ad_block, sweep._id]);
    assert.equal((await farm.ledgerOf(sweep.organization_id)).length, 3, 'the ledger is kept');
    await removeUntil(31.5);
    assert.deepEqual(await left(), { scans: [], captures: 0 });
  });
});
