import { setTimeout as pause } from 'node:timers/promises';
import { evaluateInWorld } from '../devtools/isolated-world.ts';
import { frameUnder } from '../harness/clickables.ts';
import type { CreativePage } from '../harness/harness-page.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Point } from '../session/visitor-click.ts';

const EVERY_MS = 100;

/**
 * Moves the mouse over a point of the viewport until the frame that is shown there notices it. Some time after a page has scrolled, Chromium still gives the
 * mouse to the frame of another process that was there before: a click would reach another ad, or none. Resolves after a while if the frame never
 * notices it, and at once on devices that are used with fingers, which have no mouse. Never throws.
 */
export async function pointAt(
  session: CaptureSession,
  { tab, hasTouch }: CreativePage,
  frames: readonly MeasuredFrame[],
  { x, y }: Point,
): Promise<void> {
  const frame = frameUnder(frames, { x, y });
  if (hasTouch || !frame || frame.world === null) return;
  const deadlineMs = underLoad(session, ANSWER_MS);
  let isOver = false;
  const noticing = evaluateInWorld(frame.at.session, frame.world, noticeMouse, deadlineMs, 2 * deadlineMs)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  // It has to move, not only to be there.
  for (let away = 0; !isOver && !session.ending.failure; away = 1 - away) {
    tab.tab.session.notify('Input.dispatchMouseEvent', { type: 'mouseMoved', x: x + away, y });
    await Promise.race([noticing, pause(EVERY_MS)]);
  }
}

/** Runs in a frame, in an isolated world: resolves when the mouse moves over it, or after `mostMs`. */
function noticeMouse(mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const notice = ({ isTrusted }: Event) => {
      if (isTrusted) resolve();
    };
    addEventListener('mousemove', notice, true);
    setTimeout(resolve, mostMs);
    setTimeout(() => removeEventListener('mousemove', notice, true), mostMs);
  });
}
