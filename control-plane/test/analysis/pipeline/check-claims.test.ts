import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { finishScan } from '../../../src/analysis/pipeline/finish-scan.ts';
import { finishCrawled, startWorker } from '../../../src/analysis/pipeline/worker.ts';
import type { ReadPackedCapture } from '../../../src/crawling/captures/capture-record.ts';
import { ObjectsUnavailable } from '../../../src/platform/objects/object-store.ts';
import { createWakeSignal } from '../../../src/platform/wake-signal.ts';
import { changeScan } from '../../../src/scan/change-scan.ts';
import type { ScanRecord } from '../../../src/scan/scan.ts';
import { adBlocks } from '../../support/ad-blocks.ts';
import { checkCrawled, crawledScan, followUpsOf, LOUD } from '../../support/checked-scans.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const crawled = (change: Partial<ScanRecord> = {}) => crawledScan(farm, [LOUD], change);
const work = (now?: Date) => checkCrawled(farm, now);
const [TAGS, COMPLETED] = ['scanning.tags.detected', 'scanning.scan.completed'];

describe('the analysis of a scan', () => {
  it('runs once if several workers look at the same time', async () => {
    const scan = await crawled();
    const claims = await Promise.all([work(), work(), work()]);
    assert.equal(
      claims.reduce((sum, count) => sum + count, 0),
      1,
    );
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
  });

  it('is taken over when its worker is gone, whose late result changes nothing', async () => {
    const scan = await crawled();
    const now = new Date();
    const claim = { type: 'claim_checks' as const, until: new Date(now.getTime() + 60_000) };
    const gone = await changeScan(farm.scans, scan, claim, now);
    assert.ok(gone);
    assert.equal(await work(new Date(now.getTime() + 59_000)), 0, 'its claim still holds');
    assert.equal(await work(new Date(now.getTime() + 61_000)), 1);
    assert.equal(await finishScan(farm.farm.dependencies, gone, new Date()), false);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
    assert.deepEqual(followUpsOf(finished), ['charge', TAGS, COMPLETED]);
  });

  it('is repeated after a crash without doubling anything', async () => {
    const scan = await crawled();
    const { dependencies } = farm.farm;
    const crashes = [
      { readPackedCapture: () => Promise.reject(new Error('killed')) },
      { scans: { ...dependencies.scans, apply: crashAtFinish(dependencies.scans) } },
    ];
    let now = new Date();
    for (const broken of crashes) {
      assert.equal(await finishCrawled({ ...dependencies, ...broken }, now), 1);
      assert.equal((await farm.read(scan._id)).status, 'checking');
      now = new Date(now.getTime() + 61_000);
    }
    assert.equal(await work(now), 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length], ['completed', 1]);
    assert.deepEqual(followUpsOf(finished), ['charge', TAGS, COMPLETED]);
  });

  it('ends as partial, with the reason, after three interrupted attempts', async () => {
    const scan = await crawled();
    const { dependencies } = farm.farm;
    const killed = { ...dependencies, readPackedCapture: () => Promise.reject(new Error('killed')) };
    const start = Date.now();
    for (let times = 1; times <= 3; times += 1) {
      assert.equal(await finishCrawled(killed, new Date(start + times * 61_000)), 1);
      assert.deepEqual((await farm.read(scan._id)).status, 'checking');
    }
    assert.equal(await finishCrawled(killed, new Date(start + 4 * 61_000)), 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.error, finished.tags], ['partial', 'checks: INTERRUPTED', []]);
    assert.deepEqual(followUpsOf(finished), ['charge', COMPLETED]);
  });

  it('§2.1.3 keeps the network of an ad on a page, as in the ad blocks of its page, when the analysis ends without a result', async () => {
    const scan = await crawled({ job_kind: 'sweep', ad_block: adBlocks(1)[0]! });
    const killed = { ...farm.farm.dependencies, readPackedCapture: () => Promise.reject(new Error('killed')) };
    const start = Date.now();
    for (let times = 1; times <= 4; times += 1) await finishCrawled(killed, new Date(start + times * 61_000));
    const { error, network, network_host } = await farm.read(scan._id);
    assert.deepEqual([error, network, network_host], ['checks: INTERRUPTED', 'Example Ads', 'ads.example']);
  });

  it('waits while the files cannot be reached, whatever number of attempts fails, and ends as partial if one cannot be read for a day', async () => {
    const [scan, unreadable] = [await crawled(), await crawled()];
    const { dependencies } = farm.farm;
    const packed = () => Promise.reject(new ObjectsUnavailable('the bucket cannot be used'));
    const outage = { ...dependencies, bodies: { ...dependencies.bodies, packed } };
    const start = Date.now();
    const at = (claims: number, hours = 0) => new Date(start + claims * 61_000 + hours * 3_600_000);
    for (let times = 1; times <= 5; times += 1) assert.equal(await finishCrawled(outage, at(times)), 2);
    const dueOnly = { ...dependencies, scans: { ...farm.scans, awaitingAnalysis: onlyScan(scan) } };
    assert.equal(await finishCrawled(dueOnly, at(6)), 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.tags.length, finished.checks_attempts], ['completed', 1, 1]);

    for (let times = 1; times <= 4; times += 1) {
      assert.equal((await farm.read(unreadable._id)).status, 'checking');
      assert.equal(await finishCrawled(outage, at(times, 25)), 1);
    }
    assert.equal((await farm.read(unreadable._id)).error, 'checks: INTERRUPTED');
  });

  it('does not hold its worker forever when it hangs', async (t) => {
    const scan = await crawled();
    const asked = Promise.withResolvers<void>();
    const hang: ReadPackedCapture = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turn = finishCrawled({ ...farm.farm.dependencies, readPackedCapture: hang }, new Date());
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(300_000);
    assert.equal(await turn, 1);
    assert.equal((await farm.read(scan._id)).status, 'checking', 'whoever finds its claim run out tries again');
  });

  it('keeps its claim as long as it runs', slow, async () => {
    const scan = await crawled();
    const [asked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { dependencies } = farm.farm;
    const slow: ReadPackedCapture = (one) => {
      asked.resolve();
      return end.promise.then(() => dependencies.readPackedCapture(one));
    };
    const limits = { slots: 1, claimMs: 3_000, analysisMs: 60_000 };
    const turn = finishCrawled({ ...dependencies, readPackedCapture: slow }, new Date(), limits);
    await asked.promise;
    const claims = new Set<number>();
    await until('its claim to be renewed past its first length', async () => {
      const { checks_claimed_until } = await farm.read(scan._id);
      if (checks_claimed_until) claims.add(checks_claimed_until.getTime());
      assert.equal(await work(), 0, 'no other worker may claim it');
      return claims.size > 4;
    });
    end.resolve();
    assert.equal(await turn, 1);
    const finished = await farm.read(scan._id);
    assert.deepEqual([finished.status, finished.checks_attempts], ['completed', 1]);
  });

  it('never waits for that of another scan', async () => {
    const end = Promise.withResolvers<void>();
    const { dependencies } = farm.farm;
    const slow = await crawled();
    const readPackedCapture: ReadPackedCapture = async (one) => {
      if (one.capture?.id === slow.capture?.id) await end.promise;
      return dependencies.readPackedCapture(one);
    };
    const wake = createWakeSignal();
    const worker = startWorker({ ...dependencies, readPackedCapture }, wake, {
      slots: 2,
      claimMs: 30_000,
      analysisMs: 60_000,
    });
    try {
      await until('the slow one to begin', async () => (await farm.read(slow._id)).status === 'checking');
      for (let one = 0; one < 5; one += 1) {
        const quick = await crawled();
        wake.raise();
        await until('a quick one to end', async () => (await farm.read(quick._id)).status === 'completed');
      }
      assert.equal((await farm.read(slow._id)).status, 'checking');
    } finally {
      end.resolve();
      await worker.stop();
    }
    assert.equal((await farm.read(slow._id)).status, 'completed', 'stopping waits for what is under way');
  });

  it('of an organization takes three quarters of the slots at most, so that another one’s scans end however long its own take', async () => {
    const { dependencies } = farm.farm;
    const end = Promise.withResolvers<void>();
    let reading = 0;
    const readPackedCapture: ReadPackedCapture = async (one) => {
      if (slow.some(({ capture }) => capture?.id === one.capture?.id)) {
        reading += 1;
        await end.promise;
      }
      return dependencies.readPackedCapture(one);
    };
    const slow: ScanRecord[] = [];
    for (let one = 0; one < 6; one += 1) slow.push(await crawled({ organization_id: 'slow' }));
    const wake = createWakeSignal();
    const limits = { slots: 4, claimMs: 30_000, analysisMs: 60_000 };
    const worker = startWorker({ ...dependencies, readPackedCapture }, wake, limits);
    try {
      await until('some of the slow ones to begin', () => reading >= 3);
      const quick = await crawled({ organization_id: 'quick' });
      wake.raise();
      await until('the quick one to end', async () => (await farm.read(quick._id)).status === 'completed');
      assert.equal(reading, 3);
      end.resolve();
      for (const { _id } of slow)
        await until('each slow one to end', async () => (await farm.read(_id)).status === 'completed');
    } finally {
      end.resolve();
      await worker.stop();
    }
  });

  it('is looked for once when a scan is announced, and not again when the analysis ends', async () => {
    const { dependencies } = farm.farm;
    let looks = 0;
    const scans: typeof dependencies.scans = {
      ...dependencies.scans,
      awaitingAnalysis: (...wanted) => {
        looks += 1;
        return dependencies.scans.awaitingAnalysis(...wanted);
      },
    };
    const signal = createWakeSignal();
    const toldAlone = { ...signal, wait: (_ms: number, stop?: AbortSignal) => signal.wait(600_000, stop) };
    const worker = startWorker({ ...dependencies, scans }, toldAlone);
    try {
      await until('it to wait', () => signal.waiting() === 1);
      const scan = await crawled();
      signal.raise();
      await until('the scan to end', async () => (await farm.read(scan._id)).status === 'completed');
    } finally {
      await worker.stop();
    }
    assert.equal(looks, 2, 'at its start, and when it was told');
  });
});

/** Finds this scan alone. */
const onlyScan =
  ({ _id }: ScanRecord): RunningFarm['scans']['awaitingAnalysis'] =>
  async (...wanted) =>
    (await farm.scans.awaitingAnalysis(...wanted)).filter((scan) => scan._id === _id);

/** Fails the write that finishes a scan, as a crash right before it would. */
function crashAtFinish(scans: RunningFarm['scans']): RunningFarm['scans']['apply'] {
  return (scan, change) =>
    change.set.status === 'completed' ? Promise.reject(new Error('killed')) : scans.apply(scan, change);
}
