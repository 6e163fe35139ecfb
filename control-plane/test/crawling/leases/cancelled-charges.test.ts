import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import { captureOf, isLeaseLost, type RunningFarm, requestOf, runningFarm } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CHAIN = ['https://shop.example/'];

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

describe('a scan that is cancelled after its attempts', () => {
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
    it(`§3.5 after ${code} ${what} has ${refunds} refunds`, async () => {
      const lease = await farm.leased({ retry_max_attempts: 2 });
      await farm.node.fail(lease, { code, cause: '', capture });
      await farm.makeDue(lease.scan_id);
      const again = await farm.acquireOne();
      await farm.node.fail(again, { code: 'navigation: DNS', cause: '', capture: null });
      assert.ok(await farm.cancel(lease.scan_id));
      const { outbox } = await farm.read(lease.scan_id);
      assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, refunds);
    });

  it('§3.5 is not refunded if an attempt loaded its target after the cancel had read it', async () => {
    const read = await farm.submit();
    const lease = await farm.acquireOne();
    await farm.node.reportLoaded(lease);
    await farm.node.release(lease);
    const parts = {
      scans: farm.scans,
      unqueue: farm.farm.unqueue,
      outboxFilled: () => {},
      log: farm.parts.logger,
    };
    assert.equal((await cancelScan(parts, read, new Date()))?.status, 'cancelled');
    const { outbox } = await farm.read(read._id);
    assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, 0);
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
    it(`§3.5 of which one ${how} is refunded unless the node had reported that it loaded the target`, async () => {
      for (const [reports, refunds] of [
        [0, 1],
        [2, 0],
      ] as const) {
        const lease = await farm.leased();
        for (let report = 0; report < reports; report += 1) await farm.node.reportLoaded(lease);
        await end(lease);
        assert.equal(await farm.cancel(lease.scan_id), true);
        const { outbox } = await farm.read(lease.scan_id);
        assert.equal(outbox.filter(({ kind }) => kind === 'refund').length, refunds);
        await assert.rejects(farm.node.reportLoaded(lease), isLeaseLost);
      }
    });
});
