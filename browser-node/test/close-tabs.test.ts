import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { note } from '@adsweep/shared/capture/notes.ts';
import { extendedBound, LEAVE_QUIET_MS, loadFactor } from '../src/capture/session/budgets.ts';
import { closeTabs, quietIn } from '../src/capture/session/close-tabs.ts';
import { Ending } from '../src/capture/session/ending.ts';

const carried = (change: object) => ({
  ticket_id: 'ticket',
  bytes_sent: 0,
  bytes_received: 0,
  hosts: [],
  requests: [],
  open_streams: 3,
  connecting_streams: 0,
  quiet_ms: 60_000,
  ...change,
});
type CaptureSession = Parameters<typeof closeTabs>[0];
const sessionWith = (closed: () => void) =>
  ({
    tabs: { all: [{ page: { isClosed: () => true, close: async () => closed() } }] },
    startedAt: performance.now(),
    open: { context: { cookies: async () => [], unrouteAll: async () => undefined } },
    ending: new Ending(),
    notes: [],
    logger: { warn: () => undefined },
  }) as unknown as CaptureSession;

describe('traffic of closed tabs', () => {
  it('the traffic of closed tabs has passed after a quiet time, which is longer if the gateway answers slowly', () => {
    const roundTripMs = 1;
    assert.equal(quietIn(carried({}), { sinceClosedMs: 0, roundTripMs }), LEAVE_QUIET_MS);
    assert.equal(quietIn(carried({}), { sinceClosedMs: LEAVE_QUIET_MS, roundTripMs }), 0);
    assert.equal(quietIn(carried({ quiet_ms: 50 }), { sinceClosedMs: 900, roundTripMs }), LEAVE_QUIET_MS - 50);
    assert.equal(quietIn(carried({}), { sinceClosedMs: 900, roundTripMs: 300 }), 300);
    assert.ok(quietIn(carried({ connecting_streams: 1 }), { sinceClosedMs: 900, roundTripMs }) > 0);
  });

  it('the traffic of closed tabs has not passed while a target is being dialled', async () => {
    let closed = false;
    let asked = 0;
    const captureSession = sessionWith(() => {
      closed = true;
    });
    const answer = await closeTabs(captureSession, async () => {
      assert.ok(closed);
      asked += 1;
      const requests = asked < 4 ? [] : [{ method: 'POST', url: 'http://beacon.example/', at_ms: 0 }];
      return carried({ connecting_streams: asked < 4 ? 1 : 0, requests });
    });
    assert.equal(answer?.requests.length, 1);
    assert.deepEqual(captureSession.notes, []);
  });

  it('the traffic of closed tabs is null with a note if the gateway does not report it', async () => {
    const captureSession = sessionWith(() => undefined);
    assert.equal(await closeTabs(captureSession, () => Promise.reject(new Error('gone'))), null);
    assert.deepEqual(captureSession.notes, [note('traffic')]);
  });
});

describe('upper bounds', () => {
  it('an upper time bound grows with the load of the machine, within limits', () => {
    assert.equal(loadFactor(0, 2), 1);
    assert.equal(loadFactor(2, 2), 1);
    assert.equal(loadFactor(4, 2), 2);
    assert.equal(loadFactor(100, 2), 2);
  });

  it('an upper time bound no longer grows in a capture that has taken long, however often it is computed', () => {
    assert.equal(extendedBound(6_000, 2, 0), 12_000);
    assert.equal(extendedBound(6_000, 2, 21_000), 9_000);
    assert.equal(extendedBound(6_000, 2, 60_000), 6_000);
  });
});
