import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { ClickDelivery } from '../src/capture/harness/click-delivery.ts';
import type { MeasuredFrame } from '../src/capture/harness/measure-frames.ts';
import type { CaptureSession } from '../src/capture/session/capture-session.ts';

const session = { startedAt: performance.now() } as CaptureSession;
const POINT = { x: 150, y: 150 };

/** A frame of 200 by 200 pixels at 100, 100, or the page around it, that has counted `clicks`; an error instead: what asking for them gives. */
function frame(clicks: number | Error, { isPage = false, world = 1 as number | null } = {}) {
  const shown = { clicks };
  const send = async () => {
    if (shown.clicks instanceof Error) throw shown.clicks;
    return { result: { value: shown.clicks } };
  };
  const box = isPage ? null : { x: 100, y: 100, width: 200, height: 200 };
  const measured = { at: { session: { send } }, world, box, parentId: isPage ? null : 'page' };
  return { shown, measured: measured as unknown as MeasuredFrame };
}

describe('a click', () => {
  it('is delivered if a frame at its point, or the page around it, got one since', async () => {
    for (const at of [0, 1]) {
      const frames = [frame(2, { isPage: true }), frame(0)];
      const delivery = new ClickDelivery(
        session,
        frames.map(({ measured }) => measured),
      );
      await delivery.expect(POINT);
      assert.equal(await delivery.isDelivered(POINT), false);
      const clicked = frames[at]!.shown;
      clicked.clicks = Number(clicked.clicks) + 1;
      assert.equal(await delivery.isDelivered(POINT), true);
    }
  });

  it('beside a frame is not delivered to it', async () => {
    const [page, ad] = [frame(0, { isPage: true }), frame(0)];
    const delivery = new ClickDelivery(session, [page.measured, ad.measured]);
    await delivery.expect({ x: 10, y: 10 });
    ad.shown.clicks = 1;
    assert.equal(await delivery.isDelivered({ x: 10, y: 10 }), false);
  });

  it('is not delivered to a frame that does not answer', async () => {
    for (const silent of [frame(new DeadlineError('Runtime.evaluate', 1)), frame(0, { world: null })]) {
      const delivery = new ClickDelivery(session, [frame(0, { isPage: true }).measured, silent.measured]);
      await delivery.expect(POINT);
      assert.equal(await delivery.isDelivered(POINT), false);
    }
  });

  it('is not delivered to a frame whose earlier clicks are not known', async () => {
    const ad = frame(new DeadlineError('Runtime.evaluate', 1));
    const delivery = new ClickDelivery(session, [frame(0, { isPage: true }).measured, ad.measured]);
    await delivery.expect(POINT);
    ad.shown.clicks = 1;
    assert.equal(await delivery.isDelivered(POINT), false);
  });

  it('is neither delivered nor lost where another document is shown since', async () => {
    const ad = frame(0);
    const delivery = new ClickDelivery(session, [frame(0, { isPage: true }).measured, ad.measured]);
    await delivery.expect(POINT);
    ad.shown.clicks = new Error('Cannot find context with specified id');
    assert.equal(await delivery.isDelivered(POINT), null);
  });
});
