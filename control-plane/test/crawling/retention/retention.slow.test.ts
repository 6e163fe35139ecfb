import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { finishCrawled } from '../../../src/analysis/pipeline/worker.ts';
import { captureStore } from '../../../src/crawling/captures/capture-store.ts';
import { type RetentionDays, removeOld } from '../../../src/crawling/retention/remove-old.ts';
import { unreferencedSweep } from '../../../src/crawling/retention/unreferenced-sweep.ts';
import { relay } from '../../../src/delivery/outbox/relay.ts';
import type { Document, Store } from '../../../src/platform/store.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { scanStore } from '../../../src/scan/scan-store.ts';
import { artifactStore } from '../../../src/scanning/artifacts/artifact-store.ts';
import { explaining } from '../../support/explaining-store.ts';
import { PRICE_MICROS } from '../../support/open-plane.ts';
import { captureOf, named, type RunningFarm, runningFarm, webp } from '../../support/running-farm.ts';
import { sampleScan } from '../../support/sample-scan.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LANDING = 'landing-0.webp';
const days = (count: number) => new Date(Date.now() + count * DAY_MS);

let farm: RunningFarm;
let picture: Buffer;
beforeEach(async () => {
  farm = await runningFarm();
  picture = await webp();
});
afterEach(() => farm.stop());

/** A finished scan with a screenshot, which was charged. */
async function finished(): Promise<ScanRecord> {
  const scan = await farm.submit();
  const lease = await farm.acquireOne();
  await farm.node.upload(lease, LANDING, 'image/webp', picture);
  const capture = captureOf(['https://shop.example/'], { artifacts: [named(LANDING, picture)] });
  capture.landings[0]!.screenshot = LANDING;
  await farm.node.complete(lease, capture);
  await finishCrawled(farm.farm.dependencies, new Date());
  await relay(farm.farm.dependencies, new Date());
  return farm.read(scan._id);
}

/** Removes everything that has exceeded its retention at `now`; returns the number of steps. */
async function removeAllOld(kept: RetentionDays, now: Date): Promise<number> {
  let steps = 0;
  while ((await removeOld(farm.farm.dependencies, kept, now)) > 0) steps += 1;
  return steps;
}

const countOf = (collection: string, scan_id: string) => farm.store.collection(collection).countDocuments({ scan_id });
async function whatIsLeftOf({ _id, report_token, organization_id }: ScanRecord) {
  return {
    scan: (await farm.scans.find(organization_id, _id)) !== null,
    report: (await farm.scans.findByReportToken(report_token)) !== null,
    captures: await countOf('captures', _id),
    artifacts: await countOf('artifacts', _id),
    files: (await farm.filesOf(_id)).length,
    ledger: await farm.ledgerOf(organization_id),
  };
}

describe('retention', () => {
  it('keeps everything for ever by default', async () => {
    const scan = await finished();
    assert.equal(await removeAllOld({ scans: 0, evidence: 0 }, days(100_000)), 0);
    const left = await whatIsLeftOf(scan);
    assert.deepEqual([left.scan, left.report, left.captures], [true, true, 1]);
  });

  it('removes a scan that ended so many days ago with everything that belongs to it, except the ledger', async () => {
    const scan = await finished();
    const before = await whatIsLeftOf(scan);
    assert.deepEqual([before.captures, before.artifacts, before.files], [1, 1, 1]);
    assert.equal(await removeAllOld({ scans: 30, evidence: 0 }, days(29)), 0);
    assert.deepEqual(await whatIsLeftOf(scan), before);

    await removeAllOld({ scans: 30, evidence: 0 }, days(31));
    assert.deepEqual(await whatIsLeftOf(scan), {
      scan: false,
      report: false,
      captures: 0,
      artifacts: 0,
      files: 0,
      ledger: [[`charge:${scan._id}`, -PRICE_MICROS]],
    });
  });

  it('removes the evidence of a scan earlier, after which the scan has no screenshot links', async () => {
    const scan = await finished();
    assert.equal((await farm.read(scan._id)).capture?.has_screenshot, true);
    await removeAllOld({ scans: 30, evidence: 7 }, days(8));
    const { ledger: _, ...left } = await whatIsLeftOf(scan);
    assert.deepEqual(left, { scan: true, report: true, captures: 0, artifacts: 0, files: 0 });
    const bare = await farm.read(scan._id);
    assert.deepEqual(
      [bare.status, bare.capture?.has_screenshot, bare.capture?.page_title],
      ['completed', false, 'A page'],
    );
    assert.deepEqual((await farm.farm.evidenceOf(bare)).landings, []);
    assert.equal(await farm.farm.findPicture(bare, 0), null);
  });

  it('leaves a scan whose recheck begins after a batch was read as it is until the recheck has ended', async () => {
    const [scan, other] = [await finished(), await finished()];
    const { dependencies } = farm.farm;
    const thenRecheck =
      <A extends unknown[], R>(read: (...of: A) => Promise<R>) =>
      async (...of: A): Promise<R> => {
        const ended = await read(...of);
        await changeScan(farm.scans, await farm.read(scan._id), { type: 'recheck', id: newId() }, new Date());
        return ended;
      };
    const { endedUntil, endedWithEvidence } = farm.scans;
    const racing = { endedUntil: thenRecheck(endedUntil), endedWithEvidence: thenRecheck(endedWithEvidence) };
    const scans = { ...farm.scans, ...racing };
    for (const kept of [
      { scans: 0, evidence: 7 },
      { scans: 7, evidence: 0 },
    ]) {
      assert.equal(await removeOld({ ...dependencies, scans }, kept, days(8)), 1, 'the other one');
      assert.equal((await whatIsLeftOf(scan)).captures, 1);
      await finishCrawled(dependencies, new Date());
      await relay(dependencies, new Date());
      assert.equal((await farm.read(scan._id)).status, 'completed');
    }
    assert.equal((await whatIsLeftOf(other)).scan, false);
    await removeAllOld({ scans: 0, evidence: 7 }, days(8));
    assert.equal((await whatIsLeftOf(scan)).captures, 0);
  });

  it('removes all evidence of a scan whose removal was interrupted, which cannot be rechecked any more', async () => {
    const scan = await finished();
    const { dependencies } = farm.farm;
    const failing = { ...dependencies, captures: { removeOfScan: () => Promise.reject(new Error('killed')) } };
    await assert.rejects(removeOld(failing, { scans: 0, evidence: 7 }, days(8)), /killed/);
    const recheck = { type: 'recheck' as const, id: newId() };
    assert.equal(await changeScan(farm.scans, scan, recheck, new Date()), null, 'read before the removal');
    assert.equal(await removeAllOld({ scans: 0, evidence: 7 }, days(8)), 1);
    const { ledger: _, ...left } = await whatIsLeftOf(scan);
    assert.deepEqual(left, { scan: true, report: true, captures: 0, artifacts: 0, files: 0 });
  });

  it('does not remove scans that have not ended, nor those whose charge is not booked yet', async () => {
    const pending = await farm.submit();
    const running = await farm.submit();
    await farm.acquireOne();
    const unbooked = await farm.submit({ status: 'cancelled', completed_at: new Date() });
    assert.ok(unbooked.outbox.length > 0);
    await removeAllOld({ scans: 1, evidence: 1 }, days(1_000));
    for (const { _id } of [pending, running, unbooked]) assert.ok(await farm.read(_id), 'it is there');
  });

  it('works in small steps, reads nothing twice, and continues after a failed step', async () => {
    const ended = { status: 'cancelled' as const, completed_at: new Date(), outbox: [] };
    const bare = ({ outbox_at, outbox_due_at, outbox_of, ...scan }: ScanRecord) => scan;
    for (let one = 0; one < 50; one += 1) {
      const { _id } = await farm.submit(ended);
      const scan = await farm.read(_id);
      await farm.store.collection<ScanRecord>('scans').replaceOne({ _id }, bare(scan));
    }
    const { dependencies } = farm.farm;
    const failing = { ...dependencies, captures: { removeOfScan: () => Promise.reject(new Error('killed')) } };
    await assert.rejects(removeOld(failing, { scans: 0, evidence: 1 }, days(2)));
    assert.equal(await removeAllOld({ scans: 0, evidence: 1 }, days(2)), 3);
    assert.equal(await removeAllOld({ scans: 0, evidence: 1 }, days(2)), 0);
    assert.equal(await removeAllOld({ scans: 1, evidence: 0 }, days(2)), 3);
    assert.equal(await farm.store.collection('scans').countDocuments({}), 0);
  });
});

describe('captures and files that no scan names', () => {
  async function sweep(now: Date): Promise<void> {
    const step = unreferencedSweep(farm.farm.dependencies);
    while (await step(now));
  }

  it('are removed when their scan has ended or was removed; those that a scan names, or may still name, stay', async () => {
    const scan = await finished();
    const before = await whatIsLeftOf(scan);
    const running = await farm.submit();
    const lease = await farm.acquireOne();
    await farm.node.upload(lease, LANDING, 'image/webp', picture);
    const { artifacts, captures } = farm.farm.dependencies;
    const lost = [
      { scanId: scan._id, fence: 0 },
      { scanId: running._id, fence: 0 },
      { scanId: 'a-scan-that-is-gone', fence: 1 },
    ];
    for (const ref of lost) {
      await artifacts.write(ref, LANDING, picture, DAY_MS, new Date());
      const { sha256 } = named(LANDING, picture);
      assert.ok(await artifacts.keep(ref, [], [{ name: LANDING, sha256 }], new Date()));
      const record = (await captures.find(scan.capture!.id))!;
      await captures.insert({ ...record, _id: `${ref.scanId}:${ref.fence}`, scan_id: ref.scanId, fence: ref.fence });
    }
    await sweep(new Date());
    assert.equal(await countOf('captures', scan._id), 2, 'a late write may be under way');
    await sweep(days(1));
    assert.deepEqual(await whatIsLeftOf(scan), before);
    assert.deepEqual([await countOf('captures', running._id), await countOf('artifacts', running._id)], [1, 2]);
    assert.deepEqual(
      [await countOf('captures', 'a-scan-that-is-gone'), await farm.filesOf('a-scan-that-is-gone')],
      [0, []],
    );
  });

  it('so do texts of targets; one whose scan may be about to be stored stays, and one of an earlier version is dated first', async () => {
    const target = { kind: 'ad_tag' as const, value: '<p>ad</p>' };
    const kept = await farm.submit({ target });
    const lost = await farm.submit({ target });
    const earlier = await farm.submit({ target });
    const texts = farm.store.collection<{ _id: string } & Document>('scan_targets');
    await farm.store.collection<ScanRecord>('scans').deleteMany({ _id: { $in: [lost._id, earlier._id] } });
    await texts.updateOne({ _id: earlier._id }, { $unset: { put_at: '' } });
    const left = async () => (await texts.find({}).toArray()).map(({ _id }) => _id).sort();

    await sweep(new Date());
    assert.deepEqual(await left(), [kept._id, lost._id, earlier._id].sort(), 'their scans may be about to be stored');
    // A repeated request whose text is stored, but whose scan is not yet.
    const again = scanStore(withoutScans(farm.store));
    const { dependencies } = farm.farm;
    const page = async (after: string, limit: number) => {
      const found = await farm.scans.texts.page(after, limit);
      await assert.rejects(again.insertUnlessExists(lost), /killed/);
      return found;
    };
    const racing = { ...farm.scans, texts: { ...farm.scans.texts, page } };
    await unreferencedSweep({ ...dependencies, scans: racing })(days(1));
    assert.deepEqual(await left(), [kept._id, lost._id].sort());
    await sweep(days(1));
    assert.deepEqual(await left(), [kept._id]);
  });
});

describe('the text that the scans of a request share', () => {
  const shared = { target: { kind: 'ad_tag' as const, value: '<p>ad</p>' }, target_text_id: 'text-of-the-request' };
  const organization_id = 'organization-of-the-request';
  const texts = () => farm.store.collection('scan_targets').countDocuments({});
  const submit = () => farm.submit({ ...shared, organization_id, status: 'cancelled', completed_at: new Date() });
  async function sweep(now: Date): Promise<void> {
    const step = unreferencedSweep(farm.farm.dependencies);
    while (await step(now));
  }

  it('stays until the last of them has been removed, and is removed by the next walk', async () => {
    const [one, two] = [await submit(), await submit()];
    await farm.scans.remove(one);
    await sweep(days(1));
    assert.equal((await farm.scans.withTarget(await farm.read(two._id))).target.value, shared.target.value);
    await farm.scans.remove(two);
    assert.equal(await texts(), 1);
    await sweep(days(1));
    assert.equal(await texts(), 0);
  });

  it('stays while a scan may be about to name it, also where the step that stores it again meets the walk', async () => {
    const first = await submit();
    await farm.scans.remove(first);
    await sweep(new Date());
    assert.equal(await texts(), 1, 'its next scan may be about to be stored');
    const next = { ...first, _id: 'the-next-scan', report_token: 'next' };
    const { isShared } = farm.scans.texts;
    const meeting = async (id: string) => {
      const isNamed = await isShared(id);
      await farm.scans.insertUnlessExists(next);
      return isNamed;
    };
    const racing = { ...farm.scans, texts: { ...farm.scans.texts, isShared: meeting } };
    await unreferencedSweep({ ...farm.farm.dependencies, scans: racing })(days(1));
    assert.equal((await farm.scans.withTarget(await farm.read(next._id))).target.value, shared.target.value);
  });
});

/** A store that accepts no scan. */
const withoutScans = (store: Store): Store => ({
  ...store,
  collection: ((name: string) =>
    name === 'scans'
      ? { insertOne: () => Promise.reject(new Error('killed')) }
      : store.collection(name)) as unknown as Store['collection'],
});

describe('the queries of retention', () => {
  const SCANS = 300;

  it('use an index: each step reads no more than it processes', async () => {
    const ended = new Date('2026-01-01');
    const scans = Array.from({ length: SCANS }, (_, n) => {
      const { outbox_at, outbox_due_at, outbox_of, ...scan }: ScanRecord = sampleScan({
        _id: `scan-${String(n).padStart(4, '0')}`,
        completed_at: n % 3 === 0 ? null : new Date(ended.getTime() + n * 1000),
        status: n % 3 === 0 ? 'running' : 'completed',
        target_text_id: `text-${String(n).padStart(4, '0')}`,
      });
      return scan;
    });
    await farm.store.collection<ScanRecord>('scans').insertMany(scans);
    const about = scans.map(({ _id }) => ({ scan_id: _id, fence: 1, kept: true, expires_at: null }));
    await farm.store
      .collection('captures')
      .insertMany(about.map((one) => ({ ...one, _id: `${one.scan_id}:1` }) as never));
    await farm.store.collection('artifacts').insertMany(about.map((one) => ({ ...one, _id: one.scan_id }) as never));
    await farm.store
      .collection('scan_targets')
      .insertMany(about.map((one) => ({ _id: one.scan_id, organization_id: 'o' }) as never));

    const plans: Document[] = [];
    const store = explaining(farm.store, plans);
    const [records, captures, artifacts] = [scanStore(store), captureStore(store), artifactStore(store, farm.objects)];
    const LIMIT = 20;
    const middle = new Date(ended.getTime() + (SCANS / 2) * 1000);
    const questions: Record<string, () => Promise<unknown>> = {
      'scans that have ended': () => records.endedUntil(days(0), LIMIT),
      'scans with evidence': () => records.endedWithEvidence(middle, days(0), LIMIT),
      'when scans ended': () => records.endsOf(scans.slice(100, 120).map(({ _id }) => _id)),
      'ids of captures': () => captures.pageOfIds('scan-0200', LIMIT),
      'kept files': () => artifacts.pageOfKept('scan-0200', LIMIT),
      'files of an attempt': () => artifacts.listOf({ scanId: 'scan-0200', fence: 1 }),
      'expired files': () => artifacts.sweep(days(0)),
      'texts of targets': () => records.texts.page('scan-0200', LIMIT),
      'a scan that shares a text': () => records.texts.isShared('text-0200'),
    };
    for (const [name, ask] of Object.entries(questions)) {
      plans.length = 0;
      await ask();
      const [plan] = plans;
      assert.equal(plan?.queryPlanner.winningPlan.stage, 'FETCH', name);
      const { totalDocsExamined } = plan.executionStats;
      assert.ok(totalDocsExamined <= LIMIT, `${name}: ${totalDocsExamined} examined`);
    }
  });
});
