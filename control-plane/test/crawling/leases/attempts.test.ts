import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { backoffMs } from '@adsweep/shared/service/retry.ts';
import { parseLeaseId } from '../../../src/crawling/fleet/credentials.ts';
import { RETRY_BACKOFF } from '../../../src/crawling/leases/end-attempt.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { renew } from '../../../src/crawling/leases/renew.ts';
import type { LeaseRef } from '../../../src/crawling/queue/queue-shards.ts';
import { waitingJobOf } from '../../../src/crawling/queue/waiting-jobs.ts';
import { openDiskObjects } from '../../../src/platform/objects/disk-objects.ts';
import { captureOf, named, type RunningFarm, runningFarm, webp } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CHAIN = ['https://shop.example/'];

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

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
    await farm.untilDiscarded(lease.scan_id);

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
      [0, 1, 2, 5, 20].map((attempt) => backoffMs(RETRY_BACKOFF, attempt, 0)),
      [2_000, 4_000, 8_000, 60_000, 60_000],
    );
    assert.equal(backoffMs(RETRY_BACKOFF, 0, 1), 1_000);
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
