import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { FeltClicks } from '../src/capture/harness/felt-clicks.ts';
import type { MeasuredFrame } from '../src/capture/harness/measure-frames.ts';
import type { CaptureSession } from '../src/capture/session/capture-session.ts';

const session = { startedAt: performance.now() } as CaptureSession;
const POINT = { x: 150, y: 150 };

/** A frame of 200 by 200 pixels at 100, 100, or the page around it, that has counted `presses`; an error instead: what asking for them gives. */
function frame(presses: number | Error, { isPage = false, world = 1 as number | null } = {}) {
  const shown = { presses };
  const send = async () => {
    if (shown.presses instanceof Error) throw shown.presses;
    return { result: { value: shown.presses } };
  };
  const box = isPage ? null : { x: 100, y: 100, width: 200, height: 200 };
  const measured = { at: { session: { send } }, world, box, parentId: isPage ? null : 'page' };
  return { shown, measured: measured as unknown as MeasuredFrame };
}

describe('a click', () => {
  it('is felt if a frame at its point, or the page around it, noticed one since', async () => {
    for (const at of [0, 1]) {
      const frames = [frame(2, { isPage: true }), frame(0)];
      const felt = new FeltClicks(
        session,
        frames.map(({ measured }) => measured),
      );
      await felt.expect(POINT);
      assert.equal(await felt.isFelt(POINT), false);
      const clicked = frames[at]!.shown;
      clicked.presses = Number(clicked.presses) + 1;
      assert.equal(await felt.isFelt(POINT), true);
    }
  });

  it('beside a frame is not felt in it', async () => {
    const [page, ad] = [frame(0, { isPage: true }), frame(0)];
    const felt = new FeltClicks(session, [page.measured, ad.measured]);
    await felt.expect({ x: 10, y: 10 });
    ad.shown.presses = 1;
    assert.equal(await felt.isFelt({ x: 10, y: 10 }), false);
  });

  it('is not felt by a frame that does not answer', async () => {
    for (const silent of [frame(new DeadlineError('Runtime.evaluate', 1)), frame(0, { world: null })]) {
      const felt = new FeltClicks(session, [frame(0, { isPage: true }).measured, silent.measured]);
      await felt.expect(POINT);
      assert.equal(await felt.isFelt(POINT), false);
    }
  });

  it('is neither felt nor lost where another document is shown since', async () => {
    const ad = frame(0);
    const felt = new FeltClicks(session, [frame(0, { isPage: true }).measured, ad.measured]);
    await felt.expect(POINT);
    ad.shown.presses = new Error('Cannot find context with specified id');
    assert.equal(await felt.isFelt(POINT), null);
  });
});
